"""Draws what rules do to one glyph: docs/img/rules.png, all families, and docs/img/patchwork.png, with which none is tested.

Run: python docs/make_rule_sheet.py
"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from fine.images import load_images
from fine.rules import FAMILIES, Warp, rule_set

ACROSS = 12
GLYPH = 20 * 9  # the first drawing of a class with no symmetry of its own
GROUND = "#eef0f2"  # so that white pictures have an edge
FOLDER = Path(__file__).parent / "img"


def main() -> None:
    """Both sheets."""
    glyph = load_images("glyphs").pixels[GLYPH : GLYPH + 1] / 255
    draw_families(glyph)
    draw_patchwork(glyph)


def draw_families(glyph: Tensor) -> None:
    """One row a family: the glyph as it is, then under up to twelve rules, evenly spaced over the grid."""
    figure = Figure(figsize=(9, 6.6), dpi=200, facecolor=GROUND)
    cells = figure.subplots(len(FAMILIES), 1 + ACROSS, gridspec_kw={"wspace": 0.06, "hspace": 0.12})
    for row, family in zip(cells, FAMILIES, strict=True):
        rules = rule_set(family)
        numbers = np.linspace(0, len(rules) - 1, min(ACROSS, len(rules))).round().astype(int)
        show(row, [glyph[0, 0], *under(family, glyph, numbers)])
        row[0].text(-4, 16, f"{family}\n{len(rules)} rules", ha="right", va="center", fontsize=8)
    cells[0, 0].set_title("x", fontsize=8)
    cells[0, 1].set_title("f(x), for some rules f of the family", fontsize=8, loc="left")
    figure.subplots_adjust(left=0.12, right=0.99, top=0.96, bottom=0.01)
    figure.savefig(FOLDER / "rules.png")


def draw_patchwork(glyph: Tensor) -> None:
    """The glyph as it is, then under the first patchworks."""
    figure = Figure(figsize=(9, 1.5), dpi=200, facecolor=GROUND)
    cells = figure.subplots(2, 1 + ACROSS, gridspec_kw={"wspace": 0.06, "hspace": 0.06}).reshape(-1)
    show(cells, [glyph[0, 0], *under("patchwork", glyph, np.arange(len(cells) - 1))])
    figure.subplots_adjust(left=0.01, right=0.99, top=0.99, bottom=0.01)
    figure.savefig(FOLDER / "patchwork.png")


def under(family: str, glyph: Tensor, numbers: np.ndarray) -> Tensor:
    """The glyph under rules of these numbers."""
    return Warp(rule_set(family), size=32)(glyph.expand(len(numbers), -1, -1, -1), torch.from_numpy(numbers))[:, 0]


def show(cells: list[Axes], pictures: list[Tensor]) -> None:
    """A picture in each cell, as far as there are any."""
    for cell in cells:
        cell.axis("off")
    for cell, picture in zip(cells, pictures, strict=False):
        cell.imshow(picture, cmap="gray", vmin=0, vmax=1)


if __name__ == "__main__":
    main()
