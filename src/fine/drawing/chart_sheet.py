"""A chart of functions as PNG or SVG: all families in their colours, and each family by itself, coloured by parameter."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fine.drawing.colours import family_colour, rule_colour
from fine.drawing.sheet import sheet_format
from fine.functions.charts import Chart
from fine.storage import written_whole

_PALE = "#dddddd"


def draw_chart(chart: Chart, path: Path, *, title: str = "") -> None:
    """Draw a chart of functions to a picture file."""
    suffix = sheet_format(path)
    names = list(dict.fromkeys(chart.families))
    columns = -(-len(names) // 2)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "fine"}):
        figure = Figure(figsize=(4.6 + 2.3 * columns, 4.9), facecolor="white", layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        grid = figure.add_gridspec(2, columns + 2, width_ratios=[2.3, 2.3, *(2.3 for _ in range(columns))])
        whole = figure.add_subplot(grid[:, :2])
        _scatter(whole, chart, [family_colour(family) for family in chart.families])
        for name in names:
            whole.scatter([], [], s=18, color=family_colour(name), label=name)
        whole.legend(fontsize=7, frameon=False, loc="best")
        whole.set_title("by family", fontsize=9)
        for number, name in enumerate(names):
            axes = figure.add_subplot(grid[number // columns, 2 + number % columns])
            own = [family == name for family in chart.families]
            _scatter(axes, chart, _PALE)
            places = chart.points[own]
            rules = [chart.rules.rules[n] for n, mine in zip(chart.numbers, own, strict=True) if mine]
            axes.scatter(places[:, 0].tolist(), places[:, 1].tolist(), s=9, c=[rule_colour(rule) for rule in rules], lw=0)
            axes.set_title(f"{name}, by parameter", fontsize=8)
        with written_whole(path) as temporary:
            figure.savefig(temporary, format=suffix, dpi=160, metadata={"Date": None} if suffix == "svg" else None)


def _scatter(axes: Axes, chart: Chart, colours: list[str] | str) -> None:
    axes.scatter(chart.points[:, 0].tolist(), chart.points[:, 1].tolist(), s=9, c=colours, lw=0)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.set_yticks([])
