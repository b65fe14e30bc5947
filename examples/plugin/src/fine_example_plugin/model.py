"""The model `parallelogram`: the right choice is where x' + y − x points to."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.models import Recipe
from fine.models.encoders import make_encoder


@dataclass(frozen=True)
class ParallelogramConfig:
    """Settings, which `--set NAME=VALUE` changes."""

    encoder: str = "conv"
    embedding_size: int = 64


class Parallelogram(nn.Module):
    """Images (b, 7, channels, size, size) -> logits (b, 4)."""

    def __init__(self, config: ParallelogramConfig, *, channels: int, size: int):
        super().__init__()
        self.encoder = make_encoder(
            config.encoder,
            channels=channels,
            size=size,
            embedding_size=config.embedding_size,
            columns=1,
        )

    def forward(self, images: Tensor) -> Tensor:
        embeddings = self.encoder(images.flatten(0, 1)).view(*images.shape[:2], -1)
        x, y, new, *choices = embeddings.unbind(1)
        guess = new + y - x
        return -(torch.stack(choices, dim=1) - guess[:, None]).square().mean(2)


PARALLELOGRAM = Recipe(Parallelogram, ParallelogramConfig())
