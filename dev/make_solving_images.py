"""Draws the images of docs/solve.md and docs/pretrained.md. Run: python dev/make_solving_images.py

docs/img/solved.png     for every family, a puzzle that all-glyphs solves and one that it misses
docs/img/composed.png   the functions it composes for eight rules, as maps between 4 × 4 places,
                        and its memory
docs/img/drawn.png      answers it draws without choices
"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image, ImageDraw
from torch import Tensor

import fine
from fine.models.memory import FunctionalMemory
from fine.puzzles import RIGHT
from fine.rules import Rule, RuleSet, Warp

FOLDER = Path(__file__).parent.parent / "docs" / "img"
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
TEXT = {"fontsize": 8, "color": "#1f2328"}


def main() -> None:
    """Draw all three."""
    model = fine.load("all-glyphs")
    draw_solved_and_missed(model)
    draw_composed(model)
    draw_drawn(model)
    for name in ("solved", "composed", "drawn"):
        path = FOLDER / f"{name}.png"
        image = Image.open(path).convert("RGB")
        if name == "solved":
            half = (image.width // 2, image.height // 2)
            image = image.resize(half, Image.Resampling.LANCZOS)
        colours = 64 if name == "solved" else 160
        image.quantize(colours).save(path, optimize=True)  # a third of the bytes


def draw_solved_and_missed(model: fine.FINE) -> None:
    """The first solved and the first missed puzzle of every family."""
    puzzles = fine.Task.preset("glyphs", rules="all").test_puzzles()
    evaluation = fine.evaluate(model, puzzles)
    rules = puzzles.rules.rules
    families = np.array([rules[number].family.name for number in puzzles.specs[:, RIGHT]])
    groups: dict[str, list[int]] = {}
    for family in puzzles.rules.families:
        members = np.flatnonzero(families == family)
        right = evaluation.kinds[members] == 0
        numbers = [*members[right][:1].tolist(), *members[~right][:1].tolist()]
        groups[f"{family}: {right.mean():.1%} of {len(members)} right"] = numbers
    fine.draw_sheet(
        puzzles,
        groups,
        FOLDER / "solved.png",
        chosen=evaluation.chosen,
        probabilities=evaluation.probabilities,
        columns=2,
    )


def rule(label: str) -> Rule:
    """The rule with this label."""
    return next(entry for entry in fine.rule_set("all").rules if str(entry) == label)


@torch.no_grad()
def draw_composed(model: fine.FINE) -> None:
    """One row of images y, one of the functions composed from x → y, and one of slots."""
    x = fine.load_images("glyphs").pixels[20 * 309 : 20 * 309 + 1].float() / 255
    rules = RuleSet("shown", tuple(rule(label) for label in COMPOSED))
    y = Warp(rules, size=32)(x.expand(len(rules), -1, -1, -1), torch.arange(len(rules)))
    embeddings = model.encode(torch.stack((x.expand_as(y), y), dim=1))
    function = model.compose(embeddings[:, 0], embeddings[:, 1])
    identity = torch.eye(embeddings.shape[2]).expand(len(rules), -1, -1)
    matrices = model.apply_function(function, identity)  # its layers are linear
    memory = next(module for module in model.modules() if isinstance(module, FunctionalMemory))
    figure = Figure(figsize=(9.4, 3.6), dpi=120, facecolor="white")
    layout = {"left": 0.1, "right": 0.99, "top": 0.93, "bottom": 0.02, "hspace": 0.05}
    cells = figure.subplots(3, len(rules), gridspec_kw=layout)
    for cell, image in zip(cells[0], y[:, 0], strict=True):
        cell.imshow(image, cmap="gray", vmin=0, vmax=1)
    for cell, matrix in zip(cells[1], matrices, strict=True):
        show_matrix(cell, matrix)
    for cell, matrix in zip(cells[2], memory.value_matrices()[: len(rules)], strict=True):
        show_matrix(cell, matrix)
    for cell in cells.flat:
        cell.set(xticks=[], yticks=[])
    for cell, label in zip(cells[0], COMPOSED, strict=True):
        cell.set_title(label.replace(" ", "\n", 1), **TEXT)
    for row, text in zip(cells, ("y", "composed\nfunction", "slots of\nthe memory"), strict=True):
        row[0].set_ylabel(text, rotation=0, ha="right", va="center", **TEXT)
    figure.savefig(FOLDER / "composed.png")


def show_matrix(cell: Axes, matrix: Tensor) -> None:
    """A matrix, with white at zero."""
    bound = float(matrix.abs().max())
    cell.imshow(matrix, cmap="PuOr", vmin=-bound, vmax=bound)


def flag(colour: str, points: list[tuple[int, int]]) -> Image.Image:
    """A drawing in colour on white."""
    image = Image.new("RGB", (128, 128), "white")
    draw = ImageDraw.Draw(image)
    draw.line(points, fill=colour, width=9, joint="curve")
    x, y = points[-1]
    draw.ellipse((x - 12, y - 12, x + 12, y + 12), fill=colour)
    return image


def draw_drawn(model: fine.FINE) -> None:
    """x → y, x' → the answer the model draws, for three changes made by Pillow."""
    x = flag("#1f2328", [(36, 98), (36, 34), (84, 40), (64, 70)])
    new = flag("#0969da", [(40, 40), (88, 46), (48, 88), (92, 92)])
    shift = (1, 0, -24, 0, 1, 12)
    changes = (
        x.rotate(90, fillcolor="white"),
        x.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        x.transform(x.size, Image.Transform.AFFINE, shift, fillcolor="white"),
    )
    figure = Figure(figsize=(9.4, 1.75), dpi=120, facecolor="white")
    widths = [1, 1, 1, 1, 0.5] * len(changes)
    layout = {"left": 0.01, "right": 1.02, "top": 0.86, "bottom": 0.12, "wspace": 0.12}
    cells = figure.subplots(1, len(widths), gridspec_kw={**layout, "width_ratios": widths})
    for gap in cells[4::5]:
        gap.axis("off")
    for place, y in enumerate(changes):
        drawn = fine.draw_answer(model, x, y, new)
        shown = {"x": x, "y": y, "x'": new, "drawn": drawn.image}
        for cell, (text, image) in zip(cells[5 * place :], shown.items(), strict=False):
            cell.imshow(image)
            cell.set(xticks=[], yticks=[])
            cell.set_title(text, **TEXT)
        cells[5 * place + 3].set_xlabel(str(drawn.rules[0]).replace(" ", "\n", 1), **TEXT)
    figure.savefig(FOLDER / "drawn.png")


if __name__ == "__main__":
    main()
