"""Hints of functions as a model sees them; a tensor may hold the hints of b functions.

hints = embed_hints(x, y, model)
hints.inputs, hints.x        # images (b, channels, size, size), embeddings (b, rows, columns)
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fine.errors import FineError
from fine.inference.puzzle_images import Hints, ReadPuzzle, fitted, hint_lists, read_all
from fine.inference.reading import Source
from fine.inference.solving import check_dense
from fine.models.paper import FINE


class EmbeddedHints(NamedTuple):
    """Hints as the model sees them; each field has a tensor for every hint."""

    inputs: tuple[Tensor, ...]
    """(b, channels, size, size)"""
    outputs: tuple[Tensor, ...]
    x: tuple[Tensor, ...]
    """(b, rows, columns): the embeddings of the inputs."""
    y: tuple[Tensor, ...]


def read_single(x: Hints, y: Hints) -> ReadPuzzle | None:
    """The hints of one function; None if tensors hold those of several."""
    pairs = zip(*hint_lists(x, y), strict=True)
    batches = [_as_batch(image) for pair in pairs for image in pair]
    if any(len(batch) != 1 for batch in batches):
        return None
    images = [batch[0] for batch in batches]
    return ReadPuzzle.read(images[0::2], images[1::2], None, ())


def embed_hints(x: Hints, y: Hints, model: FINE) -> EmbeddedHints:
    """Hints as the model sees them, with their embeddings."""
    before, after = hint_lists(x, y)
    model.eval()
    pairs = [read_together(model, pair) for pair in zip(before, after, strict=True)]
    embeddings = [model.encode(torch.stack(pair, dim=1)).unbind(1) for pair in pairs]
    return EmbeddedHints(*zip(*pairs, strict=True), *zip(*embeddings, strict=True))


def read_together(model: FINE, sources: Sequence[Source]) -> list[Tensor]:
    """Images of one pair as the model sees them, each (b, channels, size, size).

    No rule has been applied to the first.
    """
    batches = [_as_batch(source) for source in sources]
    read = read_all(model, [image for batch in batches for image in batch])  # on one paper
    sized = list(read.split([len(batch) for batch in batches]))
    if len({len(images) for images in sized}) > 1:
        counts = ", ".join(str(len(images)) for images in sized)
        raise FineError(f"these tensors hold {counts} images: give as many in each")
    return list(fitted(model, torch.stack(sized, dim=1), plain=(0,)).unbind(1))


def _as_batch(source: Source) -> Sequence[Source]:
    """The images of a source, of which a tensor may have b."""
    if isinstance(source, Tensor) and source.ndim == 4:
        check_dense(source)
        if not len(source):
            raise FineError("a tensor of 0 images makes no function: give at least one image")
        return list(source)
    return [source]


def only_image(source: Source) -> Source:
    """The one image of a tensor of images."""
    return source[0] if isinstance(source, Tensor) and source.ndim == 4 else source
