"""The slots of a memory as PNG or SVG: their shares, what is lost without each, their matrices."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from fine.drawing.figures import figure_file
from fine.models.memory import FunctionalMemory

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_slots(
    memory: FunctionalMemory,
    shares: Mapping[str, Tensor],
    lost: Sequence[float],
    path: Path,
    *,
    title: str = "",
) -> None:
    """Draw the slots of a memory.

    ``shares`` are those of `slot_shares_by_family`; ``lost`` is the accuracy in % that is lost
    without each slot, or empty.
    """
    slots = memory.slots
    size = (1.9 + 1.0 * slots, 5.6)
    with figure_file(path, size=size, layout="constrained") as figure:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        grid = figure.add_gridspec(3, slots, height_ratios=[0.42 * len(shares) + 0.3, 1.0, 1.0])
        _draw_shares(figure.add_subplot(grid[0, :]), shares, lost)
        rows = {"value": memory.value_matrices(), "key": memory.key_matrices()}
        for row, (name, matrices) in enumerate(rows.items(), start=1):
            reach = float(matrices.detach().abs().max())
            for slot, matrix in enumerate(matrices.detach()):
                axes = figure.add_subplot(grid[row, slot])
                pixels = matrix.numpy()
                axes.imshow(pixels, cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="none")
                axes.set(xticks=[], yticks=[])
                axes.set_title(f"{name} {slot}", fontsize=8)


def _draw_shares(axes: "Axes", shares: Mapping[str, Tensor], lost: Sequence[float]) -> None:
    """A heat map: a row for every family, a column for every slot."""
    percent = [[100 * float(share) for share in family] for family in shares.values()]
    axes.imshow(percent, cmap="Oranges", vmin=0, aspect="auto", interpolation="none")
    axes.set_yticks(range(len(shares)), list(shares), fontsize=8)
    slots = range(len(percent[0]))
    names = [f"{slot}\n−{lost[slot]:.1f}" if lost else str(slot) for slot in slots]
    axes.set_xticks(slots, names, fontsize=8)
    axes.set_title("share of each slot in the functions of a family, in %", fontsize=9, loc="left")
    if lost:
        axes.set_xlabel("slot, and what accuracy loses without it, in points", fontsize=8)
    most = max(map(max, percent))
    for row, family in enumerate(percent):
        for column, share in enumerate(family):
            colour = "white" if share > 0.6 * most else "black"
            text = f"{share:.0f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
