"""The default model: FINE beyond the paper.

    model = FINE(FINEConfig(), channels=1, size=32)
    logits = model(batch.images)             # (b, 7, 1, 32, 32) -> (b, 4)

It composes functions as the paper's model does (paper.py). Beyond the paper, embeddings are
matrices and the encoder is equivariant to mirrors, too (encoders.py); the memory is read by least
squares, over the orbits of its slots (memory.py); and training asks every puzzle in several
directions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models import paper
from fine.models.backbones import make_backbone
from fine.models.encoders import make_encoder
from fine.models.hub import HubMixin
from fine.models.memory import FunctionalMemory, MemoryOptions
from fine.models.paper import WeightedDistance

Function = Callable[[Tensor], Tensor]  # φ_{x,y}: embeddings (b, rows, columns), the same out

STANDARDS = ("none", "image", "pair")
MOST_RIDGE = 1_000_000
"""With a larger one, the fit is lost in rounding."""


@dataclass(frozen=True)
class FINEConfig:
    """Settings of the default FINE model.

    Examples:
        >>> import fine
        >>> config = fine.FINEConfig(slots=16, backbone="residual")
        >>> model = fine.FINE(config, channels=1, size=32)
    """

    encoder: str = "p4m-cnn"
    """p4m-cnn, p4-cnn, resnet, mlp or conv; strings reads letters (docs/strings.md)."""
    encoder_depth: int = 0
    """Further convolutions of the p4m-CNN on its grid of places; 1 is better for a fine grid."""
    standardise: str = "image"
    """How images are standardised to mean 0 and variance 1: none; image, each separately (best for
    drawings); or pair, y by the statistics of x and the choices by those of x' (best for
    photographs)."""
    embedding_size: int = 256
    """Size of the embedding of an image."""
    columns: int = 16
    """Columns of an embedding; a composed function acts on each. 1 is the paper's vector."""
    backbone: str = "linear"
    """The network whose weights are composed: linear, residual, mlp or nice."""
    layers: int = 2
    """Layers of a residual or NICE backbone; 0 puts the two-layer MLP in the place of NICE."""
    slots: int = 8
    """(value, key) pairs in a memory; 0 takes the query itself as the weight."""
    analogy: str = "least-squares"
    """How coefficients are found: least-squares (those of the values that best explain the pair)
    or similarity (the paper's)."""
    symmetry: str = "conjugate"
    """The orbit a slot is read in: none; conjugate, what it becomes when x and y are moved by one
    symmetry of the square; or two-sided, when each is moved by its own."""
    query: str = "solve"
    """How to find the pseudo-inverse in the query: solve (exact) or iterate (Ben-Israel, Cohen)."""
    ridge: float = 0.1
    """Regularisation of the query or the fit, relative to the mean square of its inputs."""
    keys: str = "tied"
    """Where keys come from: tied (start as the values), shared (are the values) or own."""
    auxiliary_queries: int = 3
    """Further directions in which training puzzles are asked: 0 none, 1 from x' and the answer to
    x, 3 also both of them backwards."""
    score_all_directions: bool = False
    """Score a choice by the puzzle it completes, in all four directions, and not by f(x') alone:
    slower, and better on unseen rules."""
    slot_form: str = ""
    """How slots are stored: rank-4 (any rank) or kronecker, as products; empty: whole matrices."""


def standardise(images: Tensor, by: str, *, firsts: Sequence[int] | None = None) -> Tensor:
    """Puzzles (b, n, channels, size, size) with mean 0 and variance 1 ``by`` image or by pair.

    An image of one colour becomes 0. ``firsts`` has, for every image, the number of the first image
    of its pair; by default those of a puzzle.
    """
    if by == "none":
        return images
    variance, mean = torch.var_mean(images, dim=(2, 3, 4), correction=0, keepdim=True)
    if by == "pair":
        if firsts is None:
            # x for itself and y, x' for itself and the choices
            firsts = [0 if number < 2 else 2 for number in range(images.shape[1])]
        variance, mean = variance[:, firsts], mean[:, firsts]
    return (images - mean) / (variance.sqrt() + 1e-3)


class FINE(paper.FINE, HubMixin):
    """Composes the function that takes x to y; the choice nearest to what it makes of x' wins.

    Args:
        config: The settings.
        channels: Channels of the images: 1 (grey) or 3 (colour).
        size: Width and height of the images.

    Examples:
        >>> import fine, torch
        >>> model = fine.FINE(fine.FINEConfig(), channels=1, size=32)
        >>> model(torch.rand(8, 7, 1, 32, 32)).shape  # logits of the four choices
        torch.Size([8, 4])
    """

    config: FINEConfig

    def __init__(self, config: FINEConfig, *, channels: int, size: int):
        nn.Module.__init__(self)  # not the paper's, which makes the paper's encoder and memories
        _check(config)
        self.config, self.channels, self.size = config, channels, size
        self.encoder = make_encoder(
            config.encoder,
            channels=channels,
            size=size,
            embedding_size=config.embedding_size,
            columns=config.columns,
            depth=config.encoder_depth,
        )
        rows = self.encoder.rows
        self.backbone = make_backbone(
            config.backbone, rows=rows, layers=config.layers, make_memory=self.make_memory
        )
        self.distance = WeightedDistance(rows=rows, columns=config.columns)

    def make_memory(self, rows_in: int, rows_out: int) -> FunctionalMemory:
        """A memory for a layer of this shape."""
        return FunctionalMemory(rows_in, rows_out, **self.memory_options())

    def memory_options(self) -> MemoryOptions:
        """The settings of the memories."""
        config = self.config
        return {
            "slots": config.slots,
            "ridge": config.ridge,
            "analogy": config.analogy,
            "method": config.query,
            "keys": config.keys,
            "permutations": self.encoder.row_permutations,
            "symmetry": config.symmetry,
            "slot_form": config.slot_form,
        }

    def train(self, mode: bool = True) -> Self:
        """Training or evaluation mode; a frozen encoder keeps its running statistics in both."""
        super().train(mode)
        if not any(parameter.requires_grad for parameter in self.encoder.parameters()):
            self.encoder.eval()
        return self

    def encode(self, images: Tensor, *, firsts: Sequence[int] | None = None) -> Tensor:
        """(b, n, channels, size, size) -> embeddings (b, n, rows, columns), in one encoder batch.

        ``firsts`` has, for every image, the number of the first image of its pair; by default those
        of a puzzle: x, y and perhaps x' and choices.
        """
        return super().encode(standardise(images, self.config.standardise, firsts=firsts))

    def score(self, embeddings: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, rows, columns) -> logits (b, k)."""
        if self.config.score_all_directions:
            return self.score_all_directions(embeddings)
        return self.score_as_asked(embeddings)

    def score_as_asked(self, embeddings: Tensor) -> Tensor:
        """The same by f(x') alone, whatever the configuration: −distances."""
        return super().score(embeddings)

    def learn(self, images: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Training puzzles and their answers -> (logits (b, k), loss (b,)), over all directions.

        Besides x → y, x' → ? there is x' → y', x → ?, and both from right to left, with all images
        of the puzzle as choices. They cost little, because the images are embedded anyway.
        """
        return self.learn_from_embeddings(self.encode(images), answers)

    def learn_from_embeddings(self, embeddings: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Like `learn`, for images that are embedded already."""
        logits = self.score_as_asked(embeddings)
        loss = F.cross_entropy(logits, answers, reduction="none")
        return logits, loss + self.auxiliary_loss(embeddings, answers)

    def auxiliary_loss(self, embeddings: Tensor, answers: Tensor) -> Tensor | float:  # (b,)
        """The mean cross-entropy of the puzzles asked in the other directions."""
        if not self.config.auxiliary_queries:
            return 0.0
        # Numbers of images: x is 0, y is 1, x' is 2, and y' is the right choice.
        result = 3 + answers
        x, y, new = (torch.full_like(result, number) for number in range(3))
        directions = (  # (example, its result, question, right answer)
            (new, result, x, y),
            (y, x, result, new),
            (result, new, y, x),
        )[: self.config.auxiliary_queries]
        stacked = torch.stack([torch.stack(numbers) for numbers in directions], dim=1)
        *shown, right = stacked  # four of (directions, b)
        puzzles = torch.arange(len(embeddings), device=embeddings.device)
        example, its_result, question = (
            embeddings[puzzles, numbers].flatten(0, 1) for numbers in shown
        )
        guess = self.apply_function(self.compose(example, its_result), question)
        guess = guess.unflatten(0, right.shape)  # (directions, b, rows, columns)
        logits = -self.distance(embeddings, guess[:, :, None])  # (directions, b, n)
        return F.cross_entropy(logits.movedim(2, 1), right, reduction="none").mean(0)

    def function(self, x: Tensor, y: Tensor) -> Function:  # (b, rows, columns) twice
        """φ_{x,y}, as a function of embeddings."""
        return partial(self.apply_function, self.compose(x, y))

    def score_all_directions(self, embeddings: Tensor) -> Tensor:  # (b, 3 + k, …) -> (b, k)
        """Score each choice by its distances in four directions, whatever the configuration.

        They are the puzzle as asked, backwards, and both with x' → choice as the example and x → y
        as the question. Under an unseen rule all distances are large and differ from puzzle to
        puzzle; only their ratios between choices mean something. So each direction gives odds in
        inverse proportion to its distances, and odds multiply; the further three count half.
        """
        x, y, new = embeddings[:, :3].unbind(1)
        choices = embeddings[:, 3:]
        shape = choices.shape[:2]
        guess = self.function(x, y)(new)[:, None]
        side_by_side = choices.movedim(1, 2).flatten(2)  # all choices as columns of one embedding
        restored = self.function(y, x)(side_by_side).unflatten(2, (shape[1], -1)).movedim(2, 1)
        x, y, new = (part[:, None].expand_as(choices).flatten(0, 1) for part in (x, y, new))
        choice = choices.flatten(0, 1)
        forward = self.function(new, choice)(x)
        backward = self.function(choice, new)(y)
        distances = (
            self.distance(guess, choices),
            self.distance(restored, embeddings[:, 2:3]),
            self.distance(forward, y).view(shape),
            self.distance(backward, x).view(shape),
        )
        as_asked, *others = torch.stack(distances).clamp(min=1e-12).log()
        return -(as_asked + sum(others) / 2)


def _check(config: FINEConfig) -> None:
    """Refuse settings that are impossible, or do not go together."""
    if not 0 <= config.ridge <= MOST_RIDGE:
        raise FineError(f"ridge is {config.ridge}: give a number from 0 to {MOST_RIDGE:,}")
    if config.standardise not in STANDARDS:
        raise unknown("way to standardise", config.standardise, STANDARDS)
    if config.auxiliary_queries not in (0, 1, 3):
        raise FineError(f"auxiliary_queries is {config.auxiliary_queries}: give 0, 1 or 3")
    if config.symmetry != "none" and config.backbone in ("mlp", "nice"):
        raise FineError(
            f"the {config.backbone} backbone is not equivariant: set symmetry=none, or "
            "backbone=linear"
        )
    if config.symmetry == "two-sided" and config.backbone == "residual":
        raise FineError(
            "a residual backbone starts from x, not from x moved: set symmetry=conjugate or "
            "backbone=linear"
        )
