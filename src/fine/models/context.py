"""Models that read a puzzle as a sequence of seven codes (x, y, x', four choices), and the normalisation they share.

Their four logits come from the sequence as a whole, so the order of the choices matters to them, as it does not to FINE.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.encoders import make_encoder

PICTURES = 7
CHOICES = 4


class ContextNorm(nn.Module):
    """Brings every feature to mean 0 and variance 1 over the pictures of one puzzle (Webb et al., 2020)."""

    def __init__(self, code: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(code))
        self.shift = nn.Parameter(torch.zeros(code))

    def forward(self, codes: Tensor) -> Tensor:  # (b, n, d), the same out
        variance, mean = torch.var_mean(codes, dim=1, keepdim=True)
        return (codes - mean) * (variance + 1e-8).rsqrt() * self.gain + self.shift


class SequenceModel(nn.Module, ABC):
    """Encodes all pictures in one batch, normalises the codes, and leaves the answer to the subclass."""

    def __init__(self, config: Any, *, channels: int, size: int):
        super().__init__()
        for name, value in asdict(config).items():
            if type(value) is int and value < 1:
                raise FineError(f"{name} is {value}: give at least 1")
        self.encoder = make_encoder(config.encoder, channels=channels, size=size, code=config.code, columns=1)
        self.normalise = ContextNorm(config.code)

    def encode(self, pictures: Tensor) -> Tensor:
        """Pictures (b, 7, channels, size, size) -> normalised codes (b, 7, d)."""
        if pictures.shape[1] != PICTURES:
            raise FineError(
                f"{type(self).__name__} was given {pictures.shape[1]} pictures a puzzle: it reads sequences of {PICTURES}, "
                f"x, y, x' and {CHOICES} choices"
            )
        return self.normalise(self.encoder(pictures.flatten(0, 1)).view(len(pictures), PICTURES, -1))

    @abstractmethod
    def answer(self, codes: Tensor) -> Tensor:
        """Normalised codes (b, 7, d) -> logits (b, 4)."""

    def forward(self, pictures: Tensor) -> Tensor:
        """x, y, x' and four choices (b, 7, channels, size, size) -> logits (b, 4)."""
        return self.answer(self.encode(pictures))


def with_positions(codes: Tensor) -> Tensor:  # (b, n, d) -> (b, n, d + 1)
    """Every code with its place in the sequence, 0 to n − 1, as one more feature."""
    positions = torch.arange(codes.shape[1], dtype=codes.dtype, device=codes.device)
    return torch.cat((codes, positions[None, :, None].expand(len(codes), -1, 1)), dim=2)
