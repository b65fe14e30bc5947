"""Random augmentation of images, drawn again each time they are shown.

    augment = ImageAugmentation(read_parts("edges+mask+frame"))
    augment(images, random_bits(seed, epoch, np.arange(len(images))))   # (n, channels, h, w)

What becomes of an image depends on itself and its 64 random bits alone, not on its batch.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from fine.images.augmentation.chance import Bits, chances
from fine.images.augmentation.changes import colours, contrast, frame, invert, mask, thick
from fine.images.augmentation.drawings import draw
from fine.images.augmentation.parts import CHANGES, DRAWINGS

LEAST = 0.25
"""Share of its variance that an image must keep; one that loses more is shown as it was. So a mask
never hides all of a thin drawing, and a puzzle stays one."""


class ImageAugmentation:
    """Some parts of the augmentation: all but turns, which are a matter of the renderer."""

    def __init__(self, parts: Sequence[str]):
        self.drawings = [name for name in DRAWINGS if name in parts]
        self.changes = [name for name in CHANGES if name in parts]

    def __bool__(self) -> bool:
        """Whether an image may change."""
        return bool(self.drawings or self.changes)

    def __call__(self, images: Tensor, bits: Bits) -> Tensor:
        """Images (n, channels, h, w) in 0..1, with 64 random bits each (n,) -> the same shape."""
        chance = chances(bits, images.device)
        shown = images
        if "invert" in self.changes:
            shown = invert(shown, chance["invert"])
        if self.drawings:
            shown = draw(shown, chance, self.drawings)
        for name, change in (("thick", thick), ("mask", mask), ("frame", frame)):
            if name in self.changes:
                shown = change(shown, chance[name])
        lost = _variance(shown) < LEAST * _variance(images)
        shown = shown.lerp(images, lost.to(images.dtype)[:, None, None, None])
        if "colours" in self.changes:
            shown = colours(shown, chance["colours"])
        if "contrast" in self.changes:
            shown = contrast(shown, chance["contrast"])
        return shown


def _variance(images: Tensor) -> Tensor:  # (n, …) -> (n,)
    """The variance of the brightness of each image; much faster than torch's own."""
    pixels = images.flatten(1)
    mean_square = torch.linalg.vector_norm(pixels, dim=1).square() / pixels.shape[1]
    return mean_square - pixels.mean(1).square()
