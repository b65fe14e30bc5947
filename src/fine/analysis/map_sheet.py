"""A map of functions as PNG or SVG: all families in their colours, and each by parameter."""

from pathlib import Path
from typing import TYPE_CHECKING

from fine.analysis.function_map import FunctionMap
from fine.drawing.colours import family_colour, rule_colour
from fine.drawing.figures import figure_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PALE = "#dddddd"
_POINT = 9  # size of a function


def draw_map(made: FunctionMap, path: Path, *, title: str = "") -> None:
    """Draw a map of functions to a file."""
    names = list(dict.fromkeys(made.families))
    columns = -(-len(names) // 2)
    size = (4.6 + 2.3 * columns, 4.9)
    with figure_file(path, size=size, layout="constrained") as figure:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        grid = figure.add_gridspec(2, columns + 2, width_ratios=[2.3] * (columns + 2))
        whole = figure.add_subplot(grid[:, :2])
        _scatter(whole, made, [family_colour(family) for family in made.families])
        for name in names:
            whole.scatter([], [], s=2 * _POINT, color=family_colour(name), label=name)
        whole.legend(fontsize=7, frameon=False, loc="best")
        whole.set_title("by family", fontsize=9)
        for number, name in enumerate(names):
            axes = figure.add_subplot(grid[number // columns, 2 + number % columns])
            _scatter(axes, made, _PALE)
            _scatter_family(axes, made, name)
            axes.set_title(f"{name}, by parameter", fontsize=8)


def _scatter(axes: "Axes", made: FunctionMap, colours: list[str] | str) -> None:
    """All functions."""
    across, down = made.points.T.tolist()
    axes.scatter(across, down, s=_POINT, c=colours, lw=0)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.set_yticks([])


def _scatter_family(axes: "Axes", made: FunctionMap, family: str) -> None:
    """The functions of one family, coloured by parameter."""
    members = [place for place, name in enumerate(made.families) if name == family]
    across, down = made.points[members].T.tolist()
    colours = [rule_colour(made.rules.rules[made.numbers[place]]) for place in members]
    axes.scatter(across, down, s=_POINT, c=colours, lw=0)
