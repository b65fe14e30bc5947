"""A convolutional network whose weights are composed: it sees what a filter did to one image, and
does the same to another.

    python examples/any_backbone.py            # half a minute on one core

Each sample has its own hidden filter, a random 3 × 3 kernel. The network sees x and the filtered y,
and is asked to filter x'. Filters and characters of the test are new. A network with the same
weights for all samples can only guess the average filter.
"""

import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fine


def make_backbone() -> nn.Module:
    """Any module will do; its weights are what is composed."""
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))


class FilterByExample(nn.Module):
    """Composes a backbone from a pair (x, y), and applies it to x'."""

    def __init__(self, rows: int = 16, slots: int = 24):
        super().__init__()
        self.embed = nn.Conv2d(1, rows, 5, stride=2)
        backbone = make_backbone()
        memory = fine.WeightMemory(backbone, rows=rows, slots=slots)
        self.composed = fine.compose_weights(backbone, memory)

    def forward(self, x: Tensor, y: Tensor, new: Tensor) -> Tensor:
        x, y = self.embed(x).flatten(2), self.embed(y).flatten(2)  # (b, rows, places)
        return self.composed(new, x, y)


class SameForAll(nn.Module):
    """The same backbone without composition."""

    def __init__(self):
        super().__init__()
        self.backbone = make_backbone()

    def forward(self, x: Tensor, y: Tensor, new: Tensor) -> Tensor:
        return self.backbone(new)


def filtered(images: Tensor, kernels: Tensor) -> Tensor:
    """Each image (b, 1, 32, 32) under its own kernel (b, 3, 3)."""
    moved = F.conv2d(images.transpose(0, 1), kernels[:, None], padding=1, groups=len(images))
    return moved.transpose(0, 1)


def draw(pixels: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """x, y = filter(x), x' and filter(x') for new random filters of norm 1."""
    kernels = torch.randn(count, 3, 3, generator=generator)
    kernels = kernels / kernels.flatten(1).norm(dim=1)[:, None, None]
    chosen = torch.randint(len(pixels), (2, count), generator=generator)
    x, new = pixels[chosen].float() / 255
    return x, filtered(x, kernels), new, filtered(new, kernels)


def unexplained(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    """The squared error as a share of that of an all-black answer."""
    x, y, new, wanted = batch
    return (model(x, y, new) - wanted).square().sum() / wanted.square().sum()


def train(model: nn.Module, *, steps: int) -> float:
    """Train a model; returns its error on characters and filters that it has not seen."""
    images = fine.load_images("glyphs")
    unseen = images.labels >= len(images.class_names) // 2
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * (1 - step / steps)
        optimiser.zero_grad()
        unexplained(model, draw(images.pixels[~unseen], 64, generator)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    with torch.no_grad():
        test = draw(images.pixels[unseen], 500, torch.Generator().manual_seed(2))
        return unexplained(model, test).item()


def main(steps: int = 600) -> dict[str, float]:
    """Train both; returns the share that each leaves unexplained."""
    left = {}
    for name, kind in (("the same weights for all", SameForAll), ("composed", FilterByExample)):
        torch.manual_seed(0)
        left[name] = train(kind(), steps=steps)
        print(f"{name:25} {left[name]:6.1%} of the filtered image is left unexplained")
    return left


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
