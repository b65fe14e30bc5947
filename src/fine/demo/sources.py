"""Pictures for the page: a few hundred of a source, of classes that no model has been trained on."""

from dataclasses import replace

import numpy as np
import torch

from fine.demo.caching import made_once
from fine.errors import FineError, unknown
from fine.images import Images, load_images
from fine.images.glyphs import draw
from fine.images.official import OFFICIAL, find_data_root
from fine.puzzles import Puzzles, Renderer, draw_puzzles
from fine.randomness import random_order
from fine.rules import rule_set
from fine.tasks import Task

TITLES = {"glyphs": "characters", "omniglot": "handwriting", "cifar100": "photographs", "mnist": "digits"}
"""What a source is called on the page."""
PUZZLES = 1000
"""Quiz puzzles of a source: as many as anyone will play, drawn in a fraction of a second."""

_CLASSES, _DRAWINGS = 100, 2
_FIRST_GLYPH = 400  # the first 400 glyphs are for training and testing
_SEED = 0x71756967


def sources_here() -> list[str]:
    """Glyphs, which are always there, and the sources whose files are."""
    root = find_data_root()
    return ["glyphs", *(name for name, source in OFFICIAL.items() if all((root / file).is_file() for file in source.files))]


@made_once(8)
def pictures_of(source: str, *, channels: int, size: int) -> Images:
    """Up to 200 pictures of a source, in grey or colour."""
    if source not in TITLES:
        raise unknown("picture source", source, TITLES)
    if source == "glyphs":
        classes = np.repeat(np.arange(_CLASSES), _DRAWINGS)
        pixels = draw(classes + _FIRST_GLYPH, np.tile(np.arange(_DRAWINGS), _CLASSES), size=size)
        names = tuple(f"glyph {number}" for number in range(_FIRST_GLYPH, _FIRST_GLYPH + _CLASSES))
        return Images("glyphs", pixels, torch.from_numpy(classes), names).with_channels(channels)
    if source not in sources_here():
        raise FineError(f"the pictures of {source} are not here: get them with `fine data download {source}`")
    images = load_images(source, size=size)
    unseen = list(Task.preset(source, rules="affine").testing_classes)[:_CLASSES]
    order = torch.from_numpy(random_order(len(images.labels), _SEED))
    members = [order[images.labels[order] == label][: max(_DRAWINGS, 2 * _CLASSES // len(unseen))] for label in unseen]
    chosen = torch.cat(members)
    labels = torch.cat([torch.full((len(some),), place) for place, some in enumerate(members)])
    names = tuple(images.class_names[label] for label in unseen)
    return replace(images, pixels=images.pixels[chosen], labels=labels, class_names=names).with_channels(channels)


@made_once(8)
def quiz_of(source: str, *, rules: str, channels: int, size: int) -> tuple[Puzzles, Renderer]:
    """The quiz puzzles of a source under these rules, and what turns them into pictures."""
    images = pictures_of(source, channels=channels, size=size)
    puzzles = draw_puzzles(images, rule_set(rules), PUZZLES, seed=_SEED)
    return puzzles, puzzles.renderer()
