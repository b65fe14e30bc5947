"""Draws what rules do to one glyph. Run: python dev/make_rule_images.py

docs/img/rules.png       the nine families
docs/img/patchwork.png   the family for pretraining
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from fine.images import load_images
from fine.rules import Warp, rule_set, tested_families

ACROSS = 12
GLYPH = 20 * 9  # the first drawing of a class without symmetry
GROUND = "#eef0f2"  # so that white images have an edge
FOLDER = Path(__file__).parent.parent / "docs" / "img"


def main() -> None:
    """Draw both sheets."""
    glyph = load_images("glyphs").pixels[GLYPH : GLYPH + 1] / 255
    draw_families(glyph)
    draw_patchwork(glyph)


def draw_families(glyph: Tensor) -> None:
    """One row per family: the glyph, then up to twelve rules, evenly spaced over the grid."""
    families = tested_families()
    figure = Figure(figsize=(9, 6.6), dpi=200, facecolor=GROUND)
    layout = {"wspace": 0.06, "hspace": 0.12}
    cells = figure.subplots(len(families), 1 + ACROSS, gridspec_kw=layout)
    for row, family in zip(cells, families, strict=True):
        rules = rule_set(family)
        count = min(ACROSS, len(rules))
        numbers = np.linspace(0, len(rules) - 1, count).round().astype(int)
        show(row, [glyph[0, 0], *under(family, glyph, numbers)])
        label = f"{family}\n{len(rules)} rules"
        row[0].text(-4, 16, label, ha="right", va="center", fontsize=8)
    cells[0, 0].set_title("x", fontsize=8)
    cells[0, 1].set_title("f(x), for some rules f of the family", fontsize=8, loc="left")
    figure.subplots_adjust(left=0.12, right=0.99, top=0.96, bottom=0.01)
    figure.savefig(FOLDER / "rules.png")


def draw_patchwork(glyph: Tensor) -> None:
    """The glyph, then the first patchworks of it."""
    figure = Figure(figsize=(9, 1.5), dpi=200, facecolor=GROUND)
    layout = {"wspace": 0.06, "hspace": 0.06}
    cells = figure.subplots(2, 1 + ACROSS, gridspec_kw=layout).reshape(-1)
    show(cells, [glyph[0, 0], *under("patchwork", glyph, np.arange(len(cells) - 1))])
    figure.subplots_adjust(left=0.01, right=0.99, top=0.99, bottom=0.01)
    figure.savefig(FOLDER / "patchwork.png")


def under(family: str, glyph: Tensor, numbers: np.ndarray) -> Tensor:  # (n, size, size)
    """The glyph under the rules of these numbers."""
    copies = glyph.expand(len(numbers), -1, -1, -1)
    return Warp(rule_set(family), size=32)(copies, torch.from_numpy(numbers))[:, 0]


def show(cells: Sequence[Axes], images: Sequence[Tensor]) -> None:
    """One image per cell; further cells stay empty."""
    for cell in cells:
        cell.axis("off")
    for cell, image in zip(cells, images, strict=False):
        cell.imshow(image, cmap="gray", vmin=0, vmax=1)


if __name__ == "__main__":
    main()
