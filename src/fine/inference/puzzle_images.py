"""The images of a puzzle, read once, and brought to what a model sees.

puzzle = PuzzleImages.read("x.png", "y.png", "new.png", ["a.png", "b.png"])
solve(model, *puzzle)                          # as if the files were given
puzzle.prepared(model)                         # (5, channels, size, size), as the model sees them
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from fine.errors import FineError
from fine.inference.ground import bright_ink
from fine.inference.reading import Source, luminance, read_images, resized, squared
from fine.models.paper import FINE

Hints = Source | Sequence[Source]
"""An image, a tensor of b images, or a sequence of either, one for each hint."""


class Viewer(Protocol):
    """What sees images of a size, in grey or in colour, such as any `FINE`."""

    @property
    def channels(self) -> int: ...

    @property
    def size(self) -> int: ...


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


@dataclass(frozen=True, eq=False)
class ReadPuzzle:
    """All images of a puzzle with any number of hints, on one paper, in their own shapes."""

    hints: int
    """How many hints there are."""
    images: tuple[Tensor, ...]
    """x and y of every hint in turn, x', and the choices: (channels, h, w) each."""

    @staticmethod
    def read(x: Hints, y: Hints, new: Source | None, choices: Sequence[Source]) -> "ReadPuzzle":
        """Read every source once; without x' it is the hints alone."""
        before, after = hint_lists(x, y)
        pairs = [image for pair in zip(before, after, strict=True) for image in pair]
        others = [] if new is None else [new, *choices]
        return ReadPuzzle(len(before), tuple(read_images([*pairs, *others])))

    @property
    def pairs(self) -> tuple[list[Tensor], list[Tensor]]:
        """Every x, and every y."""
        shown = self.images[: 2 * self.hints]
        return list(shown[0::2]), list(shown[1::2])

    @property
    def plain(self) -> list[int]:
        """The places of the images to which no rule has been applied: every x, and x'."""
        return [2 * number for number in range(self.hints + 1) if 2 * number < len(self.images)]

    @property
    def firsts(self) -> list[int]:
        """For every image, the place of the plain image of its pair."""
        rest = len(self.images) - 2 * self.hints
        return [2 * (n // 2) for n in range(2 * self.hints)] + [2 * self.hints] * rest

    def sized(self, model: Viewer) -> Tensor:  # (n, channels, size, size)
        """The images in a model's size and channels, to be `fitted` with those of other puzzles."""
        return _in_one(self.padded(), model)

    def seen(self, model: FINE) -> Tensor:  # (n, channels, size, size)
        """The images as a model sees them."""
        return fitted(model, self.sized(model)[None], plain=self.plain)[0]

    def padded(self) -> list[Tensor]:  # (channels, side, side) each
        """The images as squares at their own resolutions."""
        return squared(self.images)


def hint_lists(x: Hints, y: Hints) -> tuple[list[Source], list[Source]]:
    """The hints one by one; an error if an x has no y."""
    before: list[Any] = list(x) if isinstance(x, list | tuple) else [x]
    after: list[Any] = list(y) if isinstance(y, list | tuple) else [y]
    if len(before) != len(after) or not before:
        raise FineError(
            f"there are {len(before)} images x and {len(after)} images y: give a y for every x, at "
            "least one"
        )
    return before, after


def prepared(model: FINE, sources: Sequence[Source]) -> Tensor:  # (n, channels, size, size)
    """x, y, x' and any choices as the model sees them."""
    return fitted(model, read_all(model, sources)[None])[0]


def fitted(model: FINE, images: Tensor, plain: Sequence[int] = (0, 2)) -> Tensor:
    """Puzzles (b, n, channels, h, w) as the model sees them: (b, n, channels, size, size).

    ``plain`` are the places of the images to which no rule has been applied.
    """
    check_sees_images(model)
    return viewed(images.to(next(model.parameters()).device), plain, model)


def viewed(images: Tensor, plain: Sequence[int], model: Viewer) -> Tensor:
    """Puzzles (b, n, channels, h, w) in a model's size and channels: (b, n, channels, size, size).

    Where there is paper, ink becomes bright on black.
    """
    sized = _sized(images.flatten(0, 1), model).unflatten(0, images.shape[:2])
    # Models of colour images have learned from photographs, where a white wall is no paper.
    return bright_ink(sized, plain, everywhere=model.channels == 3)


def check_sees_images(model: FINE) -> None:
    """Refuse a model of strings."""
    if model.config.encoder == "strings":
        raise FineError(
            "this model reads strings, not images: use solve_text, or `fine solve --text X Y NEW`"
        )


def read_all(model: FINE, sources: Sequence[Source]) -> Tensor:  # (n, channels, size, size)
    """Sources of one puzzle as images in the model's size and channels, on one paper."""
    return _in_one(squared(read_images(sources)), model)


def _in_one(squares: Sequence[Tensor], model: Viewer) -> Tensor:  # (n, channels, size, size)
    return torch.cat([_sized(image[None], model) for image in squares])


def _sized(images: Tensor, model: Viewer) -> Tensor:  # (n, any, h, w) -> (n, channels, size, size)
    sized = resized(images, model.size)
    if sized.shape[1] == model.channels:
        return sized
    if model.channels == 1:
        return luminance(sized)[:, None]
    return sized.expand(-1, model.channels, -1, -1)
