"""The symmetries of the square: four rotations, and each of them after a mirror.

    D4.move(5, images)                 # mirrored left-right, then rotated by 90° counter-clockwise
    D4.compose(1, 5), D4.inverse(5)    # group elements are numbers

Element g rotates counter-clockwise by g quarter turns; elements from 4 on mirror left-right first.
C4, the rotations alone, is the subgroup of the elements 0 to 3. All of fine uses this convention.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class SquareGroup:
    """C4 (rotations) or D4 (rotations and mirrors), with elements numbered from 0, the identity."""

    mirrors: bool

    @property
    def order(self) -> int:
        """The number of elements."""
        return 8 if self.mirrors else 4

    def move(self, element: int, grids: Tensor) -> Tensor:
        """Grids (..., h, w) moved by one element."""
        return torch.rot90(grids.flip(-1) if element >= 4 else grids, element % 4, dims=(-2, -1))

    def move_each(self, images: Tensor, elements: Tensor) -> Tensor:  # (..., channels, h, w), (...)
        """Images moved by an element each; ``elements`` has the shape of their first dimensions."""
        if not elements.any():
            return images
        moved = images.clone()
        for element in range(1, self.order):
            chosen = elements == element
            moved[chosen] = self.move(element, images[chosen])
        return moved

    def compose(self, first: int, then: int) -> int:
        """The element that does ``first``, then ``then``."""
        # A mirror reverses the quarter turns before it, and two mirrors cancel.
        turns = then - first if then >= 4 else then + first
        mirrored = (first >= 4) != (then >= 4)
        return turns % 4 + 4 * mirrored

    def inverse(self, element: int) -> int:
        """The element that undoes another."""
        return next(other for other in range(self.order) if self.compose(element, other) == 0)

    def pixel_permutations(self, size: int) -> Tensor:
        """int64 (order, size²): ``image.flatten()[permutations[g]]`` is the image moved by g."""
        pixels = torch.arange(size * size).view(size, size)
        return torch.stack([self.move(element, pixels).flatten() for element in range(self.order)])

    def feature_permutations(self, size: int) -> Tensor:
        """int64 (order, order × size²): the same for a feature map (orientations, size, size).

        Its orientations, one for each element, are permuted as well: what orientation h showed is
        shown by the composition of h and g.
        """
        features = torch.arange(self.order * size * size).view(self.order, size, size)
        permutations = []
        for element in range(self.order):
            back = self.inverse(element)
            origins = [self.compose(orientation, back) for orientation in range(self.order)]
            permutations.append(self.move(element, features[origins]).flatten())
        return torch.stack(permutations)


C4, D4 = SquareGroup(mirrors=False), SquareGroup(mirrors=True)
