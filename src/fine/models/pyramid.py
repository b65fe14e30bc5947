"""FINE on two grids of places at once: a coarse one and a fine one, whose odds multiply.

    model = Pyramid(PyramidConfig(), channels=1, size=32)
    logits = model(batch.images)             # (b, 7, 1, 32, 32) -> (b, 4)

A fine grid fits the rules of training better, a coarse one extrapolates better to rules never seen.
Each is a FINE of its own (fine.py), with its own encoder and memory.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from fine.errors import unknown
from fine.models.fine import FINE, FINEConfig

BACKBONES = ("linear", "residual")
"""Those that are equivariant, as the encoder is."""


@dataclass(frozen=True)
class PyramidConfig:
    """Settings of a FINE on two grids; each place has ``columns`` numbers."""

    coarse_size: int = 256
    """Size of the embedding of an image on the coarse grid; with 16 columns, 256 is 4×4 places."""
    coarse_slots: int = 8
    """Slots of the memory on the coarse grid."""
    backbone: str = "residual"
    """The network whose weights are composed on the coarse grid: linear or residual."""
    fine_size: int = 1024
    """Size of the embedding of an image on the fine grid; with 16 columns, 1,024 is 8×8 places."""
    fine_slots: int = 4
    """Slots of the memory on the fine grid."""
    encoder_depth: int = 1
    """Further convolutions of the encoder on the fine grid, which it reaches in few halvings."""
    columns: int = 16
    """Columns of an embedding on either grid; a composed function acts on each."""
    ridge: float = 0.1
    """Regularisation of the fit, relative to the mean square of its inputs."""
    standardise: str = "pair"
    """How images are standardised: none; image, each separately (best for drawings); or pair, y by
    the statistics of x and the choices by those of x' (best for photographs)."""
    score_all_directions: bool = True
    """Score a choice by the puzzle it completes, in all four directions, and not by f(x') alone:
    slower, and better on unseen rules."""


class Pyramid(nn.Module):
    """Two FINEs that learn side by side; the choice that both together find nearest wins."""

    def __init__(self, config: PyramidConfig, *, channels: int, size: int):
        super().__init__()
        if config.backbone not in BACKBONES:
            raise unknown("backbone of a fine-pyramid", config.backbone, BACKBONES)
        self.config, self.channels, self.size = config, channels, size
        both = FINEConfig(
            columns=config.columns,
            ridge=config.ridge,
            standardise=config.standardise,
            score_all_directions=config.score_all_directions,
        )
        coarse = replace(
            both,
            embedding_size=config.coarse_size,
            slots=config.coarse_slots,
            backbone=config.backbone,
            keys="shared",
        )
        fine = replace(
            both,
            embedding_size=config.fine_size,
            slots=config.fine_slots,
            encoder_depth=config.encoder_depth,
        )
        self.coarse = FINE(coarse, channels=channels, size=size)
        self.fine = FINE(fine, channels=channels, size=size)

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        coarse, fine = self.coarse(images), self.fine(images)
        if self.config.score_all_directions:
            return coarse + fine  # which are −log distances already
        return _multiply_odds(coarse, fine)

    def learn(self, images: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Training puzzles and their answers -> (logits (b, k), loss (b,)).

        Each grid learns its own loss, and the loss is the sum: a grid does not learn less where the
        other one has the answer. As in `FINE`, the logits are those of the puzzle as asked.
        """
        coarse, coarse_loss = self.coarse.learn(images, answers)
        fine, fine_loss = self.fine.learn(images, answers)
        return _multiply_odds(coarse, fine), coarse_loss + fine_loss


def _multiply_odds(*logits: Tensor) -> Tensor:  # −distances (b, k) each, (b, k) out
    """Logits whose odds are in inverse proportion to the product of the distances.

    Distances on two grids are not of one scale: their ratios can be compared, their sums cannot.
    """
    return -torch.stack([(-part).clamp(min=1e-12).log() for part in logits]).sum(0)
