"""Draws the pictures of docs/solve.md and docs/pretrained.md with the packaged model. Run: python docs/make_solving_sheets.py

img/solved.png     for every family, a puzzle that all-glyphs solves and one that it misses
img/composed.png   the functions it composes for eight rules, as maps between the 4 × 4 places of a code, and its memory
img/drawn.png      answers it draws without choices
"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from PIL import Image, ImageDraw

import fine
from fine.models.memory import FunctionalMemory
from fine.rules import Rule, RuleSet, Warp

FOLDER = Path(__file__).parent / "img"
COMPOSED = (
    "translation (0, 0)",
    "translation (9, 0)",
    "rotation 90°",
    "rotation 45°",
    "reflection left-right",
    "scale ×0.5",
    "swap 2301",
    "black-white left of 0",
)
LOOK = {"fontsize": 8, "color": "#1f2328"}


def main() -> None:
    """All three."""
    model = fine.load("all-glyphs")
    draw_solved_and_missed(model)
    draw_composed(model)
    draw_drawn(model)
    for name in ("solved", "composed", "drawn"):
        path = FOLDER / f"{name}.png"
        picture = Image.open(path).convert("RGB")
        if name == "solved":
            picture = picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.LANCZOS)
        picture.quantize(64 if name == "solved" else 160).save(path, optimize=True)  # a third of the bytes


def draw_solved_and_missed(model: fine.FINE) -> None:
    """The first solved and the first missed puzzle of every family."""
    puzzles = fine.Task.preset("glyphs", rules="all").test_puzzles()
    evaluation = fine.evaluate(model, puzzles)
    families = [puzzles.rules.rules[number].family.name for number in puzzles.specs[:, fine.puzzles.RIGHT]]
    groups: dict[str, list[int]] = {}
    for family in puzzles.rules.families:
        members = np.flatnonzero(np.array(families) == family)
        right = evaluation.kinds[members] == 0
        numbers = [*members[right][:1].tolist(), *members[~right][:1].tolist()]
        groups[f"{family}: {right.mean():.1%} of {len(members)} right"] = numbers
    fine.draw_sheet(
        puzzles, groups, FOLDER / "solved.png", chosen=evaluation.chosen, probabilities=evaluation.probabilities, columns=2
    )


def rule(label: str) -> Rule:
    """The rule that is called so."""
    return next(entry for entry in fine.rule_set("all").rules if str(entry) == label)


@torch.no_grad()
def draw_composed(model: fine.FINE) -> None:
    """One row of pairs x → y, one of the functions composed from them, and one of the slots in memory."""
    x = fine.load_images("glyphs").pixels[20 * 309 : 20 * 309 + 1].float() / 255
    rules = RuleSet("shown", tuple(rule(label) for label in COMPOSED))
    y = Warp(rules, size=32)(x.expand(len(rules), -1, -1, -1), torch.arange(len(rules)))
    codes = model.encode(torch.stack((x.expand_as(y), y), dim=1))
    function = model.compose(codes[:, 0], codes[:, 1])
    matrices = model.apply_function(function, torch.eye(codes.shape[2]).expand(len(rules), -1, -1))  # its layers are linear
    memory = next(module for module in model.modules() if isinstance(module, FunctionalMemory))
    figure = Figure(figsize=(9.4, 3.6), dpi=120, facecolor="white")
    cells = figure.subplots(
        3, len(rules), gridspec_kw={"left": 0.1, "right": 0.99, "top": 0.93, "bottom": 0.02, "hspace": 0.05}
    )
    maps = (y[:, 0], matrices, memory.values[: len(rules)])
    for row, pictures in zip(cells, maps, strict=True):
        for cell, picture in zip(row, pictures, strict=True):
            cell.set(xticks=[], yticks=[])
            bound = float(picture.abs().max())
            look = (
                {"cmap": "gray", "vmin": 0, "vmax": 1}
                if pictures is maps[0]
                else {"cmap": "PuOr", "vmin": -bound, "vmax": bound}
            )
            cell.imshow(picture, **look)
    for cell, label in zip(cells[0], COMPOSED, strict=True):
        cell.set_title(label.replace(" ", "\n", 1), **LOOK)
    for row, text in zip(cells, ("y", "composed\nfunction", "slots of\nthe memory"), strict=True):
        row[0].set_ylabel(text, rotation=0, ha="right", va="center", **LOOK)
    figure.savefig(FOLDER / "composed.png")


def flag(colour: str, points: list[tuple[int, int]]) -> Image.Image:
    """A drawing in colour on white."""
    picture = Image.new("RGB", (128, 128), "white")
    draw = ImageDraw.Draw(picture)
    draw.line(points, fill=colour, width=9, joint="curve")
    draw.ellipse((points[-1][0] - 12, points[-1][1] - 12, points[-1][0] + 12, points[-1][1] + 12), fill=colour)
    return picture


def draw_drawn(model: fine.FINE) -> None:
    """x → y, x' → the answer the model draws, for three changes that Pillow made."""
    x, new = (
        flag("#1f2328", [(36, 98), (36, 34), (84, 40), (64, 70)]),
        flag("#0969da", [(40, 40), (88, 46), (48, 88), (92, 92)]),
    )
    changes = (
        x.rotate(90, fillcolor="white"),
        x.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        x.transform(x.size, Image.Transform.AFFINE, (1, 0, -24, 0, 1, 12), fillcolor="white"),
    )
    figure = Figure(figsize=(9.4, 1.75), dpi=120, facecolor="white")
    widths = [1, 1, 1, 1, 0.5] * len(changes)
    layout = {"left": 0.01, "right": 1.02, "top": 0.86, "bottom": 0.12, "wspace": 0.12, "width_ratios": widths}
    cells = figure.subplots(1, len(widths), gridspec_kw=layout)
    for gap in cells[4::5]:
        gap.axis("off")
    for place, y in enumerate(changes):
        drawn = fine.draw_answer(model, x, y, new)
        for cell, picture, text in zip(cells[5 * place :], (x, y, new, drawn.image), ("x", "y", "x'", "drawn"), strict=False):
            cell.imshow(picture)
            cell.set(xticks=[], yticks=[])
            cell.set_title(text, **LOOK)
        cells[5 * place + 3].set_xlabel(str(drawn.rules[0]).replace(" ", "\n", 1), **LOOK)
    figure.savefig(FOLDER / "drawn.png")


if __name__ == "__main__":
    main()
