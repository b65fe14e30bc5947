"""FINE, the Functional Indirection Neural Estimator: one example pair in, a function out, applied to a new picture.

model = FINE(FINEConfig(), channels=1, size=32)
logits = model(batch.pictures)             # (b, 7, 1, 32, 32) -> (b, 4)
"""

import math
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.backbones import Weights, make_backbone
from fine.models.encoders import make_encoder
from fine.models.memory import FunctionalMemory


@dataclass(frozen=True)
class FINEConfig:
    """Everything that makes one FINE differ from another."""

    encoder: str = "p4-cnn"
    """p4-cnn, resnet, mlp or conv."""
    code: int = 128
    """Numbers in the code of a picture."""
    columns: int = 8
    """Columns of a code, which the composed function treats alike; 1 is the paper's vector."""
    backbone: str = "linear"
    """The network whose weights are composed: linear, mlp or nice."""
    layers: int = 4
    """Layers of a NICE backbone; 0 puts the two-layer MLP in its place."""
    slots: int = 64
    """(value, key) pairs in a memory; 0 takes the query itself as the weight."""
    query: str = "solve"
    """How the pseudo-inverse in the query is found: solve (exact) or iterate (Ben-Israel and Cohen)."""
    ridge: float = 0.1
    """Regularisation of the query, relative to the mean square of a column of the code."""
    tied: bool = True
    """Whether keys and values start as the same matrices."""


class WeightedDistance(nn.Module):
    """η(u, v) = Σ α (u − v)², with a trainable α ≥ 0 for every number of a code."""

    def __init__(self, *, rows: int, columns: int):
        super().__init__()
        start = 1 / math.sqrt(rows * columns)  # so that distances, hence logits, start at a moderate size
        self.raw = nn.Parameter(torch.full((rows, columns), math.log(math.expm1(start))))

    def forward(self, u: Tensor, v: Tensor) -> Tensor:  # (..., rows, columns) twice -> (...)
        return (F.softplus(self.raw) * (u - v).square()).sum((-2, -1))


class FINE(nn.Module):
    """Composes the function that made y from x, applies it to x', and scores each choice by its nearness to the result."""

    def __init__(self, config: FINEConfig, *, channels: int, size: int):
        super().__init__()
        if not 0 <= config.ridge < math.inf:
            raise FineError(f"ridge {config.ridge} will not do: give a number of 0 or more")
        self.encoder = make_encoder(config.encoder, channels=channels, size=size, code=config.code, columns=config.columns)
        make_memory = partial(FunctionalMemory, slots=config.slots, ridge=config.ridge, method=config.query, tied=config.tied)
        self.backbone = make_backbone(config.backbone, rows=self.encoder.rows, layers=config.layers, make_memory=make_memory)
        self.distance = WeightedDistance(rows=self.encoder.rows, columns=self.encoder.columns)

    def encode(self, pictures: Tensor) -> Tensor:
        """Pictures (b, n, channels, size, size) -> codes (b, n, rows, columns), all in one encoder batch."""
        return self.encoder(pictures.flatten(0, 1)).unflatten(0, pictures.shape[:2])

    def compose(self, x: Tensor, y: Tensor) -> Weights:
        """Codes (b, rows, columns) of example pairs -> the weights of the functions φ_{x,y}."""
        return self.backbone.compose(x, y)

    def apply_function(self, weights: Weights, x: Tensor) -> Tensor:
        """The composed functions applied to codes: y* = φ_{x,y}(x')."""
        return self.backbone.run(weights, x)

    def forward(self, pictures: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        codes = self.encode(pictures)
        guess = self.apply_function(self.compose(codes[:, 0], codes[:, 1]), codes[:, 2])
        return -self.distance(codes[:, 3:], guess[:, None])
