"""The parts of the augmentation of images by name, and how a choice of them is written."""

from fine.errors import FineError, unknown

DRAWINGS = ("edges", "bright", "dark", "strokes")
"""What may be shown in place of an image, which becomes one of those that are on or stays itself,
all equally often."""

CHANGES = ("invert", "thick", "mask", "frame", "colours", "contrast")
"""Further changes, each to a share of the images."""

TURNS = "turns"
"""A rotation or mirror of the square, one of eight, all equally often."""

PARTS = (*DRAWINGS, *CHANGES, TURNS)
"""Everything that can be switched on."""

EVERYTHING = "all"
"""Stands for every part."""


def read_parts(text: str) -> tuple[str, ...]:
    """The parts of a text such as "edges+mask+frame", each once and in the order of `PARTS`."""
    names = text.split("+") if text else []
    for name in names:
        if name not in (*PARTS, EVERYTHING):
            raise unknown("augmentation of images", name, (EVERYTHING, *PARTS))
    if EVERYTHING in names and len(names) > 1:
        raise FineError(
            f"'{text}' names '{EVERYTHING}' and others: write '{EVERYTHING}', or the parts alone"
        )
    return PARTS if names == [EVERYTHING] else tuple(name for name in PARTS if name in names)
