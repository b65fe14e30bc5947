"""The slots of a memory as PNG or SVG: how much each family uses them, what is lost without each, and what is in them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from torch import Tensor

from fine.drawing.sheet import sheet_format
from fine.models.memory import FunctionalMemory
from fine.storage import written_whole


def draw_slots(
    memory: FunctionalMemory, use: Mapping[str, Tensor], lost: Sequence[float], path: Path, *, title: str = ""
) -> None:
    """Draw the slots of a memory; ``lost`` is the accuracy in % that is lost without each, or empty."""
    suffix = sheet_format(path)
    slots = memory.slots
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "fine"}):
        figure = Figure(figsize=(1.9 + 1.0 * slots, 5.6), facecolor="white", layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        heights = [0.42 * len(use) + 0.3, 1.0, 1.0]
        grid = figure.add_gridspec(3, slots, height_ratios=heights)
        heat = figure.add_subplot(grid[0, :])
        shares = [[100 * float(share) for share in family] for family in use.values()]
        heat.imshow(shares, cmap="Oranges", vmin=0, aspect="auto", interpolation="none")
        heat.set_yticks(range(len(use)), list(use), fontsize=8)
        names = [f"{slot}\n−{loss:.1f}" for slot, loss in enumerate(lost)] if lost else [str(slot) for slot in range(slots)]
        heat.set_xticks(range(slots), names, fontsize=8)
        heat.set_title("share of each slot in the functions of a family, in %", fontsize=9, loc="left")
        if lost:
            heat.set_xlabel("slot, and what accuracy loses without it, in points", fontsize=8)
        most = max(map(max, shares))
        for row, family in enumerate(shares):
            for column, share in enumerate(family):
                colour = "white" if share > 0.6 * most else "black"
                heat.text(column, row, f"{share:.0f}", ha="center", va="center", fontsize=8, color=colour)
        for line, (name, matrices) in enumerate(zip(("value", "key"), memory.matrices(), strict=True), start=1):
            reach = float(matrices.detach().abs().max())
            for slot, matrix in enumerate(matrices.detach()):
                axes = figure.add_subplot(grid[line, slot])
                axes.imshow(matrix.numpy(), cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="none")
                axes.set(xticks=[], yticks=[])
                axes.set_title(f"{name} {slot}", fontsize=8)
        with written_whole(path) as temporary:
            figure.savefig(temporary, format=suffix, dpi=160, metadata={"Date": None} if suffix == "svg" else None)
