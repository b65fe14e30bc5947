"""FINE, the Functional Indirection Neural Estimator: one example pair in, a function out, applied to a new picture.

model = FINE(FINEConfig(), channels=1, size=32)
logits = model(batch.pictures)             # (b, 7, 1, 32, 32) -> (b, 4)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.backbones import Weights, make_backbone
from fine.models.encoders import make_encoder
from fine.models.memory import FunctionalMemory
from fine.models.sharing import Shared

if TYPE_CHECKING:
    from fine.functions import Function, Hints


@dataclass(frozen=True)
class FINEConfig:
    """Everything that makes one FINE differ from another."""

    encoder: str = "p4m-cnn"
    """p4m-cnn, p4-cnn, resnet, mlp or conv; strings reads letters (docs/strings.md)."""
    standardise: str = "picture"
    """What is brought to mean 0 and variance 1 first, so that dim and bright puzzles look alike: none; every picture by itself
    (best for drawings); or every pair as its first picture is, y with x and the choices with x' (best for photographs)."""
    code: int = 256
    """Numbers in the code of a picture."""
    columns: int = 16
    """Columns of a code, which the composed function treats alike; 1 is the paper's vector."""
    backbone: str = "linear"
    """The network whose weights are composed: linear, residual, mlp or nice."""
    layers: int = 2
    """Layers of a residual or NICE backbone; 0 puts the two-layer MLP in the place of NICE."""
    slots: int = 8
    """(value, key) pairs in a memory; 0 takes the query itself as the weight."""
    analogy: str = "fit"
    """How an example pair is found in the values: fit (the mix that explains it best) or similarity (the paper's)."""
    symmetry: str = "together"
    """Which forms of a slot are read besides its own: none; those it takes when x and y are turned (and mirrored, with p4m-cnn)
    together; or when each is turned apart, which holds the rules of training and all that a turn or mirror makes of them."""
    query: str = "solve"
    """How the pseudo-inverse in the query is found: solve (exact) or iterate (Ben-Israel and Cohen)."""
    ridge: float = 0.1
    """Regularisation of the query or the fit, relative to the mean square of what it is fitted to."""
    keys: str = "tied"
    """Where keys come from: tied (they start as the values), shared (they are the values) or own (they start apart)."""
    readings: int = 4
    """Ways a training puzzle is read: 1 as it is asked, 2 also with the answer as the example, 4 also both backwards."""
    thorough: bool = False
    """Judge a choice by the puzzle it completes, read all four ways, and not by f(x') alone: slower, and surer of new rules."""
    groups: int = 0
    """Groups of as many slots each, of which the one that a pair belongs to answers; 0: all slots together."""
    slot_form: str = ""
    """How slots are stored: empty, as whole matrices; rank-4, as products of two thin ones; or kronecker, of two small ones."""


EXPLAINING = 1.0
"""What it costs a new group of slots to leave a pair unexplained, beside a wrong answer."""
STANDARDS = ("none", "picture", "pair")


def standardised(pictures: Tensor, by: str, *, firsts: Sequence[int] | None = None) -> Tensor:
    """Puzzles (b, n, channels, size, size) with mean 0 and variance 1 ``by`` picture or by pair; an even picture is then 0.

    ``firsts`` names, for every place, the place of the first picture of its pair, if they are not those of a puzzle.
    """
    if by == "none":
        return pictures
    variance, mean = torch.var_mean(pictures, dim=(2, 3, 4), correction=0, keepdim=True)
    if by == "pair":
        if firsts is None:
            # x for itself and y, x' for itself and the choices
            firsts = [0 if place < 2 else 2 for place in range(pictures.shape[1])]
        variance, mean = variance[:, firsts], mean[:, firsts]
    return (pictures - mean) / (variance.sqrt() + 1e-3)


class WeightedDistance(nn.Module):
    """η(u, v) = Σ α (u − v)², with a trainable α ≥ 0 for every number of a code."""

    def __init__(self, *, rows: int, columns: int):
        super().__init__()
        start = 1 / math.sqrt(rows * columns)  # so that distances, hence logits, start at a moderate size
        self.raw = nn.Parameter(torch.full((rows, columns), math.log(math.expm1(start))))

    def forward(self, u: Tensor, v: Tensor) -> Tensor:  # (..., rows, columns) twice -> (...)
        return (F.softplus(self.raw) * (u - v).square()).sum((-2, -1))


class FINE(nn.Module, Shared):
    """Composes the function that made y from x, applies it to x', and scores each choice by its nearness to the result."""

    def __init__(self, config: FINEConfig, *, channels: int, size: int):
        super().__init__()
        if not 0 <= config.ridge < math.inf:
            raise FineError(f"ridge {config.ridge} will not do: give a number of 0 or more")
        self.config, self.channels, self.size = config, channels, size
        self.encoder = make_encoder(config.encoder, channels=channels, size=size, code=config.code, columns=config.columns)
        if config.standardise not in STANDARDS:
            raise unknown("way to standardise", config.standardise, STANDARDS)
        if config.readings not in (1, 2, 4):
            raise FineError(f"readings is {config.readings}: give 1, 2 or 4")
        if config.symmetry != "none" and config.backbone in ("mlp", "nice"):
            raise FineError(f"the {config.backbone} backbone does not turn with pictures: set symmetry=none or backbone=linear")
        if config.symmetry == "apart" and config.backbone == "residual":
            raise FineError("a residual backbone starts from x, not from x turned: set symmetry=together or backbone=linear")
        make_memory = partial(
            FunctionalMemory,
            slots=config.slots,
            ridge=config.ridge,
            analogy=config.analogy,
            method=config.query,
            keys=config.keys,
            moves=self.encoder.row_moves,
            symmetry=config.symmetry,
            groups=config.groups,
            columns=self.encoder.columns,
            form=config.slot_form,
        )
        self.backbone = make_backbone(config.backbone, rows=self.encoder.rows, layers=config.layers, make_memory=make_memory)
        self.distance = WeightedDistance(rows=self.encoder.rows, columns=self.encoder.columns)

    def train(self, mode: bool = True) -> Self:
        """Learn from now on, or answer; an encoder whose weights do not learn keeps the statistics it has, too."""
        super().train(mode)
        if not any(parameter.requires_grad for parameter in self.encoder.parameters()):
            self.encoder.eval()
        return self

    def encode(self, pictures: Tensor, *, firsts: Sequence[int] | None = None) -> Tensor:
        """x, y and perhaps x' and choices (b, n, channels, size, size) -> codes (b, n, rows, columns), in one encoder batch.

        ``firsts`` names the place of the first picture of every picture's pair, where they are not those of a puzzle.
        """
        seen = standardised(pictures, self.config.standardise, firsts=firsts)
        return self.encoder(seen.flatten(0, 1)).unflatten(0, pictures.shape[:2])

    def function(self, x: "Hints", y: "Hints") -> "Function":
        """The function that takes x to y, to hold, apply, undo and combine; or each of several x to its y."""
        from fine.functions import compose  # late, because functions are about models

        return compose(self, x, y)

    def compose(self, x: Tensor, y: Tensor) -> Weights:
        """Codes (b, rows, columns) of example pairs -> the weights of the functions φ_{x,y}."""
        return self.backbone.compose(x, y)

    def apply_function(self, weights: Weights, x: Tensor) -> Tensor:
        """The composed functions applied to codes: y* = φ_{x,y}(x')."""
        return self.backbone.run(weights, x)

    def forward(self, pictures: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        return self.judge(self.encode(pictures))

    def judge(self, codes: Tensor) -> Tensor:
        """The same of codes: (b, 3 + k, rows, columns) -> logits (b, k)."""
        return self._judge_all_readings(codes) if self.config.thorough else self._answer(codes)

    def learn(self, pictures: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Training puzzles and their answers -> (logits (b, k), loss (b,)), from all readings of the puzzles.

        Besides x → y, x' → ? there is x' → y', x → ?, and both from right to left, with all pictures of the puzzle as choices:
        all of them questions about f, over pictures that are encoded anyway.
        """
        return self.learn_from_codes(self.encode(pictures), answers)

    def learn_from_codes(self, codes: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """The same, once the pictures are encoded."""
        logits = self._answer(codes)
        loss = F.cross_entropy(logits, answers, reduction="none")
        for memory in self.backbone.memories:
            # While a group learns, it must come to explain its rules, to be told from others that do not.
            if isinstance(memory, FunctionalMemory) and memory.learning is not None and memory.unexplained is not None:
                loss = loss + EXPLAINING * memory.unexplained
        if self.config.readings > 1:
            loss = loss + self._other_readings(codes, 3 + answers)
        return logits, loss

    def _answer(self, codes: Tensor) -> Tensor:  # (b, 3 + k, rows, columns) -> (b, k)
        guess = self.apply_function(self.compose(codes[:, 0], codes[:, 1]), codes[:, 2])
        return -self.distance(codes[:, 3:], guess[:, None])

    def _judge_all_readings(self, codes: Tensor) -> Tensor:  # (b, 3 + k, rows, columns) -> (b, k)
        """Each choice c by four distances: from f(x') to c, from what undoes f makes of c to x', and the same with x' → c as
        the example and x → y as the question.

        Under a rule that was never seen all of them are large, and differ from one puzzle to the next; only how they compare
        between choices says something. So the question as it is asked gives odds in inverse proportion to its distances, each
        other reading half as many (in logarithms), and odds multiply.
        """
        x, y, new = codes[:, :3].unbind(1)
        choices = codes[:, 3:]
        made = self.apply_function(self.compose(x, y), new)[:, None]
        undone = self.apply_function(self.compose(y, x), choices.movedim(1, 2).flatten(2))  # the choices side by side
        undone = undone.unflatten(2, (choices.shape[1], -1)).movedim(2, 1)
        x, y, new = (code[:, None].expand_as(choices).flatten(0, 1) for code in (x, y, new))
        choice = choices.flatten(0, 1)
        distances = (
            self.distance(made, choices),
            self.distance(undone, codes[:, 2:3]),
            self.distance(self.apply_function(self.compose(new, choice), x), y).view(choices.shape[:2]),
            self.distance(self.apply_function(self.compose(choice, new), y), x).view(choices.shape[:2]),
        )
        asked, *others = torch.stack(distances).clamp(min=1e-12).log()
        return -(asked + sum(others) / 2)

    def _other_readings(self, codes: Tensor, answers: Tensor) -> Tensor:  # (b, n, rows, columns), (b,) -> (b,)
        batch = torch.arange(len(codes), device=codes.device)
        x, y, new = (torch.full_like(answers, place) for place in range(3))
        readings = ((new, answers, x, y), (y, x, answers, new), (answers, new, y, x))[: self.config.readings - 1]
        *asked, right = torch.stack([torch.stack(reading) for reading in readings], dim=1)  # four of (readings, b)
        example, result, question = (codes[batch, places].flatten(0, 1) for places in asked)
        guess = self.apply_function(self.compose(example, result), question).unflatten(0, right.shape)
        logits = -self.distance(codes, guess[:, :, None])  # (readings, b, n)
        return F.cross_entropy(logits.movedim(2, 1), right, reduction="none").mean(0)
