"""Images for the page: a few hundred of each source, of classes that no model was trained on."""

from dataclasses import replace

import numpy as np
import torch

from fine.demo.caching import made_once
from fine.errors import FineError, unknown
from fine.images import Images, load_images
from fine.images.glyphs import draw
from fine.images.official import OFFICIAL, find_data_root
from fine.puzzles import Puzzles, Renderer, draw_puzzles
from fine.puzzles.task import Task
from fine.randomness import random_order
from fine.rules import rule_set

TITLES = {
    "glyphs": "characters",
    "omniglot": "handwriting",
    "cifar100": "photographs",
    "mnist": "digits",
}
"""The sources by name, and what the page calls them."""
COLOURED = ("cifar100",)
PUZZLES = 1000
"""Quiz puzzles of a source: more than anyone will play, drawn in a fraction of a second."""

_CLASSES, _IMAGES = 100, 200
_KEPT = 256  # more than there are, so that visitors cannot push out each other's
_FIRST_GLYPH = 400  # the first 400 glyphs are for training and testing
_SEED = 0x71756967


def available_sources() -> list[str]:
    """Glyphs, which are always available, and the sources whose files are."""
    root = find_data_root()
    official = [
        name
        for name, source in OFFICIAL.items()
        if all((root / file).is_file() for file in source.files)
    ]
    return ["glyphs", *official]


@made_once(_KEPT)
def images_of(source: str, *, channels: int, size: int) -> Images:
    """Up to 200 images of a source, in grey or colour."""
    if source not in TITLES:
        raise unknown("image source", source, TITLES)
    if source == "glyphs":
        return _glyphs(size).with_channels(channels)
    if source not in available_sources():
        raise FineError(
            f"the images of {source} are not here: get them with `fine data download {source}`"
        )
    return _unseen_images(source, size).with_channels(channels)


def _glyphs(size: int) -> Images:
    each = _IMAGES // _CLASSES
    classes = np.repeat(np.arange(_CLASSES), each)
    drawings = np.tile(np.arange(each), _CLASSES)
    pixels = draw(classes + _FIRST_GLYPH, drawings, size=size)
    names = tuple(f"glyph {_FIRST_GLYPH + number}" for number in range(_CLASSES))
    return Images("glyphs", pixels, torch.from_numpy(classes), names)


def _unseen_images(source: str, size: int) -> Images:
    """Images of the classes that the source's task tests on."""
    images = load_images(source, size=size)
    classes = Task.preset(source, rules="affine").testing_classes[:_CLASSES]
    order = torch.from_numpy(random_order(len(images.labels), _SEED))
    labels = images.labels[order]
    each = _IMAGES // len(classes)
    members = [order[labels == label][:each] for label in classes]
    return replace(
        images,
        pixels=images.pixels[torch.cat(members)],
        labels=torch.cat([torch.full_like(some, place) for place, some in enumerate(members)]),
        class_names=tuple(images.class_names[label] for label in classes),
    )


@made_once(_KEPT)
def quiz_of(source: str, *, rules: str, channels: int, size: int) -> tuple[Puzzles, Renderer]:
    """The quiz puzzles of a source under these rules, and their renderer."""
    images = images_of(source, channels=channels, size=size)
    puzzles = draw_puzzles(images, rule_set(rules), PUZZLES, seed=_SEED)
    return puzzles, puzzles.renderer()
