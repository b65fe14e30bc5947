"""FINE on two grids of places at once: a coarse one and a fine one, whose odds multiply.

    model = Pyramid(PyramidConfig(), channels=1, size=32)
    logits = model(batch.images)             # (b, 7, 1, 32, 32) -> (b, 4)

A fine grid fits the rules of training better, a coarse one extrapolates better to rules never seen.
Each is a FINE of its own (fine.py), with its own encoder and memory.

A puzzle whose hint has a residual like those of training is answered as it is asked, and the fine
grid counts twice. Any other gets a second look: in all four directions, with functions of two steps
(two_steps.py), and both grids count the same.
"""

from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from fine.errors import unknown
from fine.models.backbones import MatrixBackbone
from fine.models.fine import FINE, FINEConfig, Function
from fine.models.two_steps import two_steps
from fine.puzzles import Puzzles

BACKBONES = ("linear", "residual")
"""Those that are equivariant, as the encoder is."""
SECOND_LOOKS = ("none", "unfamiliar", "all")
HINTS, FAMILIAR = 1_000, 0.9
"""From how many training puzzles a model learns which hints are familiar, and the share of them
that are."""
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
    second_look: str = "unfamiliar"
    """Puzzles that are asked in all directions, with functions of two steps: none; unfamiliar,
    those whose hint has a larger residual than 90 % of the hints of training; or all."""


class Pyramid(nn.Module):
    """Two FINEs that learn side by side; the choice that both together find nearest wins."""

    most_residual: Tensor  # (): of a familiar hint

    def __init__(self, config: PyramidConfig, *, channels: int, size: int):
        super().__init__()
        if config.backbone not in BACKBONES:
            raise unknown("backbone of a fine-pyramid", config.backbone, BACKBONES)
        if config.second_look not in SECOND_LOOKS:
            raise unknown("second_look", config.second_look, SECOND_LOOKS)
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
        coarse, fine = self.coarse.encode(images), self.fine.encode(images)
        if self.config.second_look == "all":
            return self.look_again(coarse, fine)
        finely = self.fine.score_as_asked(fine)
        logits = _multiply_odds(self.coarse.score_as_asked(coarse), finely, finely)  # counts twice
        if self.config.second_look == "none":
            return logits
        unfamiliar = (self._residual_of_hint(coarse) > self.most_residual).nonzero()[:, 0]
        if len(unfamiliar) == 0:
            return logits
        again = self.look_again(*(grid.index_select(0, unfamiliar) for grid in (coarse, fine)))
        return logits.index_copy(0, unfamiliar, again)

    def look_again(self, coarse: Tensor, fine: Tensor) -> Tensor:
        """Puzzles (b, 3 + k, rows, columns) on either grid -> logits (b, k), in all directions and
        with functions of two steps.
        """
        by_coarse = self.coarse.score_all_directions(coarse, partial(_in_two_steps, self.coarse))
        by_fine = self.fine.score_all_directions(fine, partial(_in_two_steps, self.fine))
        return by_coarse + by_fine  # which are −log distances already

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


def _in_two_steps(grid: FINE, x: Tensor, y: Tensor) -> Function:
    """φ_{x,y} on one grid, as a function of two steps."""
    assert isinstance(grid.backbone, MatrixBackbone)
    return partial(torch.matmul, two_steps(grid.backbone, x, y))
