"""Draws docs/img/rules.png: what the rules of every family do to one glyph. Run: python docs/make_rule_sheet.py"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

from fine.images import load_images
from fine.rules import FAMILIES, Warp, rule_set

ACROSS = 12
GLYPH = 20 * 9  # the first drawing of a class with no symmetry of its own


def main() -> None:
    """One row a family: the glyph as it is, then under up to twelve rules, evenly spaced over the grid."""
    glyph = load_images("glyphs").pixels[GLYPH : GLYPH + 1] / 255
    figure = Figure(figsize=(9, 6.6), dpi=200, facecolor="#eef0f2")  # so that white pictures have an edge
    cells = figure.subplots(len(FAMILIES), 1 + ACROSS, gridspec_kw={"wspace": 0.06, "hspace": 0.12})
    for row, family in zip(cells, FAMILIES, strict=True):
        rules = rule_set(family)
        numbers = torch.from_numpy(np.linspace(0, len(rules) - 1, min(ACROSS, len(rules))).round().astype(int))
        shown = [glyph[0, 0], *Warp(rules, size=32)(glyph.expand(len(numbers), -1, -1, -1), numbers)[:, 0]]
        for cell in row:
            cell.axis("off")
        for cell, picture in zip(row, shown, strict=False):
            cell.imshow(picture, cmap="gray", vmin=0, vmax=1)
        row[0].text(-4, 16, f"{family}\n{len(rules)} rules", ha="right", va="center", fontsize=8)
    cells[0, 0].set_title("x", fontsize=8)
    cells[0, 1].set_title("f(x), for some rules f of the family", fontsize=8, loc="left")
    figure.subplots_adjust(left=0.12, right=0.99, top=0.96, bottom=0.01)
    figure.savefig(Path(__file__).parent / "img" / "rules.png")


if __name__ == "__main__":
    main()
