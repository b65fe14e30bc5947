"""What moving an image does to its feature maps."""

import torch
from torch import Tensor

from fine.geometry.d4 import SquareGroup


def move_features(group: SquareGroup, element: int, maps: Tensor) -> Tensor:
    """Maps (b, orientations × channels, h, w) of the moved image, one orientation at a time.

    Space moves, and what an orientation showed is shown by its composition with the element.
    """
    split = maps.unflatten(1, (group.order, -1))
    result = torch.empty_like(split)
    for orientation in range(group.order):
        shown_by = group.compose(orientation, element)
        result[:, shown_by] = group.move(element, split[:, orientation])
    return result.flatten(1, 2)
