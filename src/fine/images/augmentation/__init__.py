"""The augmentation of images: drawings of them, masks, frames and more, each a part with a name.

    augment = ImageAugmentation(read_parts("edges+mask+frame"))
    augment(images, bits)          # (n, channels, h, w) in 0..1, and 64 random bits of each image

Each file has one purpose:

- parts.py: the names of the parts, and how a choice of them is written.
- augmentation.py: `ImageAugmentation`, which gives every image the parts that its bits say.
- drawings.py: what may be shown in place of an image; changes.py: what may happen to it besides.
- chance.py: the random numbers of each image; filters.py: slopes, thresholds and smooth fields.
"""

from fine.images.augmentation.augmentation import ImageAugmentation
from fine.images.augmentation.parts import PARTS, TURNS, read_parts

__all__ = ["PARTS", "TURNS", "ImageAugmentation", "read_parts"]
