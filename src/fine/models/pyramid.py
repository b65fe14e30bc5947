"""FINE on two grids of places at once: a coarse one and a fine one, whose odds multiply.

    model = Pyramid(PyramidConfig(), channels=1, size=32)
    logits = model(batch.images)             # (b, 7, 1, 32, 32) -> (b, 4)

A fine grid fits the rules of training better, a coarse one extrapolates better to rules never seen.
Each is a FINE of its own (fine.py), with its own encoder and memory.

A puzzle whose hint the model explains as well as those of training is answered as it is asked. Any
other is looked at from all sides: in all four directions, and once more rotated by 45°. As asked,
the fine grid counts twice; from all sides, both count the same.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from fine.errors import unknown
from fine.geometry.warp import pixel_points, sampling_grid, warp
from fine.models.fine import FINE, FINEConfig
from fine.puzzles import Puzzles

BACKBONES = ("linear", "residual")
"""Those that are equivariant, as the encoder is."""
FROM_ALL_SIDES = ("none", "unfamiliar", "all")
HINTS, FAMILIAR = 1_000, 0.98
"""From how many training puzzles a model learns which hints are familiar, and the share of them
that are."""
ANGLE, REDUCTION = 45.0, 1.3
"""How images are rotated and reduced to look at a puzzle once more."""
_TINY = 1e-12


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
    from_all_sides: str = "unfamiliar"
    """Puzzles that are asked in all directions, and once more rotated by 45°: none; unfamiliar,
    those whose hint is explained worse than 98 % of the hints of training; or all."""


class Pyramid(nn.Module):
    """Two FINEs that learn side by side; the choice that both together find nearest wins."""

    most_residual: Tensor  # (): of a familiar hint

    def __init__(self, config: PyramidConfig, *, channels: int, size: int):
        super().__init__()
        if config.backbone not in BACKBONES:
            raise unknown("backbone of a fine-pyramid", config.backbone, BACKBONES)
        if config.from_all_sides not in FROM_ALL_SIDES:
            raise unknown("from_all_sides", config.from_all_sides, FROM_ALL_SIDES)
        self.config, self.channels, self.size = config, channels, size
        both = FINEConfig(
            columns=config.columns, ridge=config.ridge, standardise=config.standardise
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
        # Until training has ended, no hint is familiar.
        self.register_buffer("most_residual", torch.zeros(()))

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        if self.config.from_all_sides == "all":
            return self.score_from_all_sides(images)
        coarse = self.coarse.encode(images)
        fine = self.fine.score_as_asked(self.fine.encode(images))
        logits = _multiply_odds(self.coarse.score_as_asked(coarse), fine, fine)  # it counts twice
        if self.config.from_all_sides == "none":
            return logits
        unfamiliar = (self._residual_of_hint(coarse) > self.most_residual).nonzero()[:, 0]
        if len(unfamiliar) == 0:
            return logits
        looked_at = self.score_from_all_sides(images.index_select(0, unfamiliar))
        return logits.index_copy(0, unfamiliar, looked_at)

    def score_from_all_sides(self, images: Tensor) -> Tensor:  # (b, 3 + k, …) -> (b, k)
        """Logits of puzzles asked in all directions, as they are and rotated.

        A puzzle of which all images are rotated is a puzzle about another rule, in which other
        places of the grid matter. What goes wrong in one of them often goes right in the other.
        """
        return self._score_all_directions(images) + self._score_all_directions(_rotated(images))

    def _score_all_directions(self, images: Tensor) -> Tensor:  # (b, 3 + k, …) -> (b, k)
        coarse = self.coarse.score_all_directions(self.coarse.encode(images))
        fine = self.fine.score_all_directions(self.fine.encode(images))
        return coarse + fine  # which are −log distances already

    def _residual_of_hint(self, embeddings: Tensor) -> Tensor:  # (b, n, rows, columns) -> (b,)
        """The share of y that f(x) does not explain, on the coarse grid.

        Its keys are the values, so that its function is the explanation of the hint.
        """
        x, y = embeddings[:, 0], embeddings[:, 1]
        explained = self.coarse.apply_function(self.coarse.compose(x, y), x)
        size = self.coarse.distance(y, torch.zeros_like(y))
        return self.coarse.distance(explained, y) / size.clamp(min=_TINY)

    @torch.no_grad()
    def after_training(self, puzzles: Puzzles, *, batch: int = 100) -> None:
        """Learn which hints are familiar from those of training puzzles."""
        puzzles = puzzles[:HINTS]
        render = puzzles.renderer(next(self.parameters()).device)
        was_training = self.training
        self.eval()
        residuals = []
        for at in range(0, len(puzzles), batch):
            hints = render(puzzles.specs[at : at + batch]).images[:, :2]
            residuals.append(self._residual_of_hint(self.coarse.encode(hints)))
        self.most_residual.copy_(torch.cat(residuals).quantile(FAMILIAR))
        self.train(was_training)

    def learn(self, images: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Training puzzles and their answers -> (logits (b, k), loss (b,)).

        Each grid learns its own loss, and the loss is the sum: a grid does not learn less where the
        other one has the answer. As in `FINE`, the logits are those of the puzzle as asked.
        """
        coarse, coarse_loss = self.coarse.learn(images, answers)
        fine, fine_loss = self.fine.learn(images, answers)
        return _multiply_odds(coarse, fine, fine), coarse_loss + fine_loss


def _multiply_odds(*logits: Tensor) -> Tensor:  # −distances (b, k) each, (b, k) out
    """Logits whose odds are in inverse proportion to the product of the distances.

    Distances on two grids are not of one scale: their ratios can be compared, their sums cannot.
    """
    return -torch.stack([(-part).clamp(min=1e-12).log() for part in logits]).sum(0)


def _rotated(images: Tensor) -> Tensor:  # (b, n, channels, h, w), the same out
    """Images rotated and reduced, so that little of them leaves the frame."""
    angle = math.radians(ANGLE)
    cos, sin = REDUCTION * math.cos(angle), REDUCTION * math.sin(angle)
    matrix = torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64)
    points = pixel_points(images.shape[-1]) @ matrix
    grid = sampling_grid(points).to(images.device)
    flat = images.flatten(0, 1)
    return warp(flat, grid.expand(len(flat), -1, -1, -1)).view_as(images)
