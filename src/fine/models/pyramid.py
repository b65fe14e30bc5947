"""FINE on two grids of places at once: a coarse one and a fine one, whose odds multiply.

    model = Pyramid(PyramidConfig(), channels=1, size=32)
    logits = model(batch.images)             # (b, 7, 1, 32, 32) -> (b, 4)

A fine grid fits the rules of training better, a coarse one extrapolates better to rules never seen.
Each is a FINE of its own (fine.py), with its own encoder and memory.

A puzzle whose hint has a residual like those of training is answered as it is asked, and the fine
grid counts twice. Any other gets a second look, with products of functions known from training
(known_functions.py).
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.fine import FINE, FINEConfig
from fine.models.known_functions import KnownFunctions, OnGrids, log_distance
from fine.puzzles import Puzzles

BACKBONES = ("linear", "residual")
"""Those that are equivariant, as the encoder is."""
SECOND_LOOKS = ("none", "unfamiliar", "all")
MOST_KNOWN = 256
"""Most functions that a model may know; searching their products takes memory for each."""
SHOWN_AGAIN, FAMILIAR = 2_000, 0.9
"""From how many training puzzles a model takes the functions it knows and learns which hints are
familiar, and the share of these that are."""
SHARPNESS = 8.0
"""How much more an explanation counts that leaves less: to this power of what it leaves."""
AT_ONCE = 25
"""Puzzles that get a second look at once, so that it takes little memory."""
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
    """Puzzles that are answered by products of known functions: none; unfamiliar, those whose hint
    has a larger residual than 90 % of the hints of training; or all."""
    known_functions: int = 32
    """Functions of training puzzles that are collected for the second look."""


class Pyramid(nn.Module):
    """Two FINEs that learn side by side; the choice that both together find nearest wins."""

    most_residual: Tensor  # (): of a familiar hint

    def __init__(self, config: PyramidConfig, *, channels: int, size: int):
        super().__init__()
        if config.backbone not in BACKBONES:
            raise unknown("backbone of a fine-pyramid", config.backbone, BACKBONES)
        if config.second_look not in SECOND_LOOKS:
            raise unknown("second_look", config.second_look, SECOND_LOOKS)
        if not 1 <= config.known_functions <= MOST_KNOWN:
            raise FineError(
                f"known_functions is {config.known_functions}: give a number from 1 to "
                f"{MOST_KNOWN:,}"
            )
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
        rows = [grid.encoder.rows for grid in self.grids]
        self.known = KnownFunctions(config.known_functions, rows=rows)
        # Until training has ended, no hint is familiar.
        self.register_buffer("most_residual", torch.zeros(()))

    @property
    def grids(self) -> tuple[FINE, FINE]:
        """The coarse one and the fine one."""
        return self.coarse, self.fine

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        coarse, fine = self.coarse.encode(images), self.fine.encode(images)
        if self.config.second_look == "all":
            return self.look_again((coarse, fine))
        finely = self.fine.score_as_asked(fine)
        logits = _multiply_odds(self.coarse.score_as_asked(coarse), finely, finely)  # counts twice
        if self.config.second_look == "none":
            return logits
        unfamiliar = (self._residual_of_hint(coarse) > self.most_residual).nonzero()[:, 0]
        if len(unfamiliar) == 0:
            return logits
        again = self.look_again([grid.index_select(0, unfamiliar) for grid in (coarse, fine)])
        return logits.index_copy(0, unfamiliar, again)

    def look_again(self, embeddings: OnGrids) -> Tensor:  # (b, 3 + k, rows, columns) -> (b, k)
        """Puzzles on both grids -> logits, by products of known functions."""
        parts = zip(*(grid.split(AT_ONCE) for grid in embeddings), strict=True)
        return torch.cat([self._forwards_and_backwards(part) for part in parts])

    def _forwards_and_backwards(self, embeddings: OnGrids) -> Tensor:
        """The puzzle as asked; and backwards: which choice does y → x take back to x'?"""
        x, y, new = ([grid[:, number] for grid in embeddings] for number in range(3))
        choices = [grid[:, 3:] for grid in embeddings]
        news = [image[:, None] for image in new]
        return self._evidence(x, y, news, choices) + self._evidence(y, x, choices, news)

    def _evidence(self, x: OnGrids, y: OnGrids, new: OnGrids, result: OnGrids) -> Tensor:
        """How well functions that take x to y (b, rows, columns) also take each of k new images to
        its result (b, k or 1, rows, columns): (b, k).

        One pair leaves a rule open, and each product that explains it is one way to read it. What
        it leaves of the hint and of the new pair multiply, and the best ways count most.
        """
        functions, residual = self.known.explain(self.grids, x, y)  # (b, n, …), (b, n)
        reached = [
            function[:, :, None] @ image[:, None]
            for function, image in zip(functions, new, strict=True)
        ]
        missed = log_distance(self.grids, reached, [image[:, None] for image in result])
        evidence = -SHARPNESS * (residual[:, :, None] + missed)  # (b, n, k)
        return evidence.logsumexp(1) / SHARPNESS

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
        """Take the functions of training puzzles, and learn which hints are familiar."""
        puzzles = puzzles[:SHOWN_AGAIN]
        render = puzzles.renderer(next(self.parameters()).device)
        was_training = self.training
        self.eval()
        shown: list[tuple[Tensor, Tensor]] = []  # the two pairs of each puzzle, on both grids
        residuals = []
        for at in range(0, len(puzzles), batch):
            images, answers = render(puzzles.specs[at : at + batch])
            each = torch.arange(len(images), device=images.device)
            right = images[each, 3 + answers]
            pairs = torch.stack([*images[:, :3].unbind(1), right], dim=1)  # x, y, x', y'
            coarse, fine = (grid.encode(pairs) for grid in self.grids)
            shown.append((coarse, fine))
            residuals.append(self._residual_of_hint(coarse))
        self.most_residual.copy_(torch.cat(residuals).quantile(FAMILIAR))
        embeddings = [torch.cat(parts) for parts in zip(*shown, strict=True)]
        before, after = ([grid[:, at::2] for grid in embeddings] for at in (0, 1))
        self.known.learn(self.grids, before, after)
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
