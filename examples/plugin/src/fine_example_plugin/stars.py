"""The image source `stars`: outlines whose radius is a sum of waves, other waves for each class."""

from pathlib import Path

import torch

from fine.images import Images

CLASSES, EACH = 60, 4


def load(*, size: int, data_root: Path) -> Images:
    """All stars; they are computed, so that there is nothing to read from ``data_root``."""
    generator = torch.Generator().manual_seed(0)
    middle = (size - 1) / 2
    down, right = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    radius = torch.hypot(right - middle, down - middle) / size
    angle = torch.atan2(down - middle, right - middle)
    images = []
    for _ in range(CLASSES):
        heights = 0.1 * torch.rand(5, generator=generator)
        phases = 6.3 * torch.rand(5, generator=generator)
        for _ in range(EACH):
            shifted = phases + 0.1 * torch.randn(5, generator=generator)
            waves = [
                height * torch.cos(wave * angle + phase)
                for wave, (height, phase) in enumerate(zip(heights, shifted, strict=True), start=1)
            ]
            edge = (0.25 + sum(waves) - radius) * size  # distance from the outline in pixels
            images.append((255 * (edge + 0.5).clamp(0, 1)).round().to(torch.uint8))
    return Images(
        name="stars",
        pixels=torch.stack(images)[:, None],
        labels=torch.arange(CLASSES).repeat_interleave(EACH),
        class_names=tuple(f"star-{number}" for number in range(CLASSES)),
    )
