"""Draws docs/img/variants.png, four variants of a puzzle. Run: python dev/make_variant_images.py"""

from dataclasses import replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fine import Task, Variant

VARIANTS = (
    Variant("hints", 2),
    Variant("backwards"),
    Variant("chain", 2),
    Variant("hints", 2, noise=0.3),
)
NUMBER = 7
GREEN, INK, LINE = "#1a7f37", "#1f2328", "#d1d9e0"
WIDE = 4 + 1 + 4 + 1  # four hint images, x' or y', the choices, and some room between them
TARGET = Path(__file__).parent.parent / "docs" / "img" / "variants.png"


def main() -> None:
    task = replace(Task.preset("omniglot", rules="affine"), test_count=NUMBER + 1)
    figure = Figure(figsize=(WIDE * 0.95, len(VARIANTS) * 1.25), facecolor="white")
    for row, variant in enumerate(VARIANTS):
        draw_row(figure, task, row, variant)
    figure.savefig(TARGET, dpi=110)


def draw_row(figure: Figure, task: Task, row: int, variant: Variant) -> None:
    """One variant: its hints, the image it asks about, and the choices."""
    batch = task.test_puzzles(variant).render([NUMBER])
    *hints, asked, a, b, c, d = batch.images[0, :, 0]
    places = [(place, image, "") for place, image in enumerate(hints)]
    places.append((4.4, asked, "y′ was …" if variant.name == "backwards" else "x′ becomes …"))
    places += [(5.8 + k, choice, "ABCD"[k]) for k, choice in enumerate((a, b, c, d))]
    rows = len(VARIANTS)
    for place, image, label in places:
        left, bottom = 0.01 + place / WIDE, 1 - (row + 0.87) / rows
        axes = figure.add_axes((left, bottom, 0.9 / WIDE, 0.66 / rows))
        axes.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="none")
        frame(axes, label, right=label == "ABCD"[int(batch.answers[0])])
    title = str(variant).partition(", by")[0]
    figure.text(0.01, 1 - (row + 0.13) / rows, title, size=10, weight="bold")


def frame(axes: Axes, label: str, *, right: bool) -> None:
    """A label and a border; the right choice is green."""
    axes.set(xticks=[], yticks=[])
    weight, colour = ("bold", GREEN) if right else ("normal", INK)
    axes.set_xlabel(label, size=9, labelpad=2, color=colour, weight=weight)
    for side in axes.spines.values():
        side.set(color=GREEN if right else LINE, linewidth=2.5 if right else 1)


if __name__ == "__main__":
    main()
