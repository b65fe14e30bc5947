"""Models that read a puzzle as a sequence of seven embeddings: x, y, x' and four choices.

Their four logits come from the sequence as a whole, so unlike for FINE, the order of the choices
matters. They share the encoder and the normalisation of Webb et al.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.encoders import make_encoder

IMAGES = 7
CHOICES = 4


class ContextNorm(nn.Module):
    """Normalises each feature to mean 0 and variance 1 over the images of one puzzle.

    Webb et al., 2020.
    """

    def __init__(self, features: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features))
        self.shift = nn.Parameter(torch.zeros(features))

    def forward(self, embeddings: Tensor) -> Tensor:  # (b, n, d), the same out
        variance, mean = torch.var_mean(embeddings, dim=1, keepdim=True)
        return (embeddings - mean) * (variance + 1e-8).rsqrt() * self.gain + self.shift


class SequenceModel(nn.Module, ABC):
    """Embeds all images in one batch and normalises the embeddings; a subclass answers."""

    def __init__(self, config: Any, *, channels: int, size: int):
        super().__init__()
        for name, value in asdict(config).items():
            if type(value) is int and value < 1:
                raise FineError(f"{name} is {value}: give at least 1")
        d = config.embedding_size
        self.encoder = make_encoder(
            config.encoder, channels=channels, size=size, embedding_size=d, columns=1
        )
        self.normalise = ContextNorm(d)

    def encode(self, images: Tensor) -> Tensor:
        """Images (b, 7, channels, size, size) -> normalised embeddings (b, 7, d)."""
        if images.shape[1] != IMAGES:
            raise FineError(
                f"{type(self).__name__} was given {images.shape[1]} images per puzzle: it reads "
                f"sequences of {IMAGES}, x, y, x' and {CHOICES} choices"
            )
        return self.normalise(self.encoder(images.flatten(0, 1)).view(len(images), IMAGES, -1))

    @abstractmethod
    def answer(self, embeddings: Tensor) -> Tensor:
        """Normalised embeddings (b, 7, d) -> logits (b, 4)."""

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and four choices (b, 7, channels, size, size) -> logits (b, 4)."""
        return self.answer(self.encode(images))


def with_positions(embeddings: Tensor) -> Tensor:  # (b, n, d) -> (b, n, d + 1)
    """Every embedding with its position in the sequence, 0 to n − 1, as one more feature."""
    positions = torch.arange(embeddings.shape[1], dtype=embeddings.dtype, device=embeddings.device)
    column = positions[None, :, None].expand(len(embeddings), -1, 1)
    return torch.cat((embeddings, column), dim=2)
