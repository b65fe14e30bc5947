"""The images of a puzzle, read once, and brought to what a model sees.

puzzle = PuzzleImages.read("x.png", "y.png", "new.png", ["a.png", "b.png"])
solve(model, *puzzle)                          # as if the files were given
puzzle.prepared(model)                         # (5, channels, size, size), as the model sees them
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fine.errors import FineError
from fine.inference.ground import bright_ink
from fine.inference.reading import Source, luminance, read_images, resized, squared
from fine.models.paper import FINE


class PuzzleImages(NamedTuple):
    """x, y, x' and any choices, each float (channels, h, w) in 0..1, in its own shape.

    Examples:
        >>> import fine, torch
        >>> images = torch.rand(5, 1, 64, 64)
        >>> puzzle = fine.PuzzleImages.read(*images[:3], list(images[3:]))
        >>> puzzle.prepared(fine.load("all-glyphs")).shape
        torch.Size([5, 1, 32, 32])
    """

    x: Tensor
    """The image of the example."""
    y: Tensor
    """What became of it."""
    new: Tensor
    """Another image, x'."""
    choices: tuple[Tensor, ...] = ()
    """What may become of that one."""

    @staticmethod
    def read(x: Source, y: Source, new: Source, choices: Sequence[Source] = ()) -> "PuzzleImages":
        """Read every source once, on one paper; what takes sources takes the images as well."""
        images = read_images((x, y, new, *choices))
        return PuzzleImages(images[0], images[1], images[2], tuple(images[3:]))

    def prepared(self, model: FINE) -> Tensor:  # (3 + k, channels, size, size)
        """The images as the model sees them."""
        return prepared(model, (self.x, self.y, self.new, *self.choices))


def prepared(model: FINE, sources: Sequence[Source]) -> Tensor:  # (n, channels, size, size)
    """x, y, x' and any choices as the model sees them."""
    return fitted(model, read_all(model, sources)[None])[0]


def fitted(model: FINE, images: Tensor, plain: Sequence[int] = (0, 2)) -> Tensor:
    """Puzzles (b, n, channels, h, w) as the model sees them: (b, n, channels, size, size).

    That is in its size and channels; for a model of grey images also with bright ink on black.
    ``plain`` are the places of the images to which no rule has been applied.
    """
    if model.config.encoder == "strings":
        raise FineError(
            "this model reads strings, not images: use solve_text, or `fine solve --text X Y NEW`"
        )
    device = next(model.parameters()).device
    sized = _sized(images.flatten(0, 1).to(device), model).unflatten(0, images.shape[:2])
    # A model of colour images has learned from photographs, where a white wall is not paper.
    return bright_ink(sized, plain) if model.channels == 1 else sized


def read_all(model: FINE, sources: Sequence[Source]) -> Tensor:  # (n, channels, size, size)
    """Sources of one puzzle as images in the model's size and channels, on one paper."""
    images = squared(read_images(sources))
    return torch.cat([_sized(image[None], model) for image in images])


def _sized(images: Tensor, model: FINE) -> Tensor:  # (n, any, h, w) -> (n, channels, size, size)
    sized = resized(images, model.size)
    if sized.shape[1] == model.channels:
        return sized
    if model.channels == 1:
        return luminance(sized)[:, None]
    return sized.expand(-1, model.channels, -1, -1)
