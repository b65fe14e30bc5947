"""A FINE whose slots are in groups, so that one can be added without changing what the others do.

    model = GroupedFINE(GroupedFINEConfig(slots=24, groups=3), channels=1, size=32)

Each group is fitted to a pair separately. The group whose own pairs usually leave such a residual
(residual_distribution.py) answers. Continual learning adds a group for each new family.
"""

from dataclasses import dataclass
from typing import NamedTuple, Unpack

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.errors import FineError
from fine.models.fine import FINE, FINEConfig
from fine.models.least_squares import combine, fit, residual
from fine.models.memory import FunctionalMemory, MemoryOptions
from fine.models.paper import Weights
from fine.models.residual_distribution import ResidualDistribution
from fine.puzzles import Puzzles

RECONSTRUCTION_WEIGHT = 1.0
"""Weight of the reconstruction loss relative to cross-entropy."""
RESIDUAL_PUZZLES = 1_000
"""Puzzles from which a group learns the distribution of its residuals."""
_TINY = 1e-8  # keeps the residual share of an all-zero y finite


@dataclass(frozen=True)
class GroupedFINEConfig(FINEConfig):
    """A FINE with its slots in groups."""

    groups: int = 1
    """Number of groups, of equal size; the one that a pair belongs to answers."""


class Reading(NamedTuple):
    """What one group of a memory makes of a pair."""

    weight: Tensor
    """(b, o, i)"""
    residual: Tensor
    """(b, o, c): the residual of y after the group's fit."""
    residual_share: Tensor
    """(b,): the residual as a share of y, in squares."""


class GroupedMemory(FunctionalMemory):
    """A functional memory with its slots in groups, each fitted to a pair separately."""

    def __init__(
        self,
        rows_in: int,
        rows_out: int,
        *,
        groups: int,
        columns: int,
        **options: Unpack[MemoryOptions],
    ):
        super().__init__(rows_in, rows_out, **options)
        if groups < 1 or not self.slots or self.slots % groups:
            raise FineError(
                f"{self.slots} slots cannot be in {groups} groups of equally many: give a number "
                "of groups that divides them"
            )
        if self.analogy != "least-squares":
            raise FineError(
                "groups of slots are told apart by their residuals of a pair: set "
                "analogy=least-squares"
            )
        self.groups = groups
        self.residuals = ResidualDistribution(groups, rows=rows_out, columns=columns)

    def coefficients(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, s)
        """The fit of the group that the pair belongs to; 0 for the slots of the others."""
        if self.groups == 1:
            return super().coefficients(x, y)
        groups = self._values_by_group()
        fits = [fit(values, x, y, ridge=self.ridge) for values in groups]
        residuals = [residual(values, own, x, y) for values, own in zip(groups, fits, strict=True)]
        likelihoods = self.residuals.log_likelihood(torch.stack(residuals, dim=1))
        belongs = F.one_hot(likelihoods.argmax(1), self.groups)  # (b, groups)
        return (torch.stack(fits, dim=1) * belongs[..., None]).flatten(1)

    def read(self, x: Tensor, y: Tensor, *, group: int) -> Reading:
        """The weight that one group finds alone, and its residual of y."""
        groups = self._values_by_group()
        values = groups[group]
        own = fit(values, x, y, ridge=self.ridge)
        coefficients = own.new_zeros(len(x), *groups.shape[:2])
        coefficients[:, group] = own
        left = residual(values, own, x, y)
        share = left.square().sum((1, 2)) / (y.square().sum((1, 2)) + _TINY)
        weight = combine(self.all_keys(), coefficients.flatten(1))
        return Reading(weight, left.detach(), share)

    def _values_by_group(self) -> Tensor:  # (groups, slots of a group × elements, o, i)
        return self.all_values().unflatten(0, (self.groups, -1))


class GroupedFINE(FINE):
    """A FINE with its slots in groups."""

    config: GroupedFINEConfig
    learning_group: int | None = None
    """The group that is read in training, while it learns; None: the one that a pair belongs to."""

    def make_memory(self, rows_in: int, rows_out: int) -> GroupedMemory:
        groups, columns = self.config.groups, self.config.columns
        return GroupedMemory(
            rows_in, rows_out, groups=groups, columns=columns, **self.memory_options()
        )

    def compose(self, x: Tensor, y: Tensor) -> Weights:
        if self.training and self.learning_group is not None:
            return self.compose_by_group(x, y, self.learning_group)[0]
        return super().compose(x, y)

    def compose_by_group(
        self, x: Tensor, y: Tensor, group: int
    ) -> tuple[Weights, dict[GroupedMemory, Reading]]:
        """The weights that one group composes, and the last reading of every memory."""
        backbone = self.backbone
        weights: list[Tensor] = []
        readings: dict[GroupedMemory, Reading] = {}
        for t in range(backbone.layers):
            memory = backbone.memory(t)
            assert isinstance(memory, GroupedMemory)
            x_t = backbone.layer_input(t, x)
            y_t = backbone.pseudo_output(t, x_t, y)
            readings[memory] = memory.read(x_t, y_t, group=group)
            weights.append(readings[memory].weight)
            x = backbone.layer(t, weights[t], x)
        return weights, readings

    def learn_from_embeddings(self, embeddings: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """As in `FINE`; a learning group must also learn to explain its own pairs.

        Only then can they be told from pairs of other groups.
        """
        if self.learning_group is None:
            return super().learn_from_embeddings(embeddings, answers)
        x, y, new = embeddings[:, :3].unbind(1)
        weights, readings = self.compose_by_group(x, y, self.learning_group)
        guess = self.apply_function(weights, new)
        logits = -self.distance(embeddings[:, 3:], guess[:, None])
        loss = F.cross_entropy(logits, answers, reduction="none")
        for reading in readings.values():
            loss = loss + RECONSTRUCTION_WEIGHT * reading.residual_share
        return logits, loss + self.auxiliary_loss(embeddings, answers)

    def after_training(self, puzzles: Puzzles) -> None:
        """Learn the residuals of a single group, once its slots are trained."""
        if self.config.groups == 1:
            self.learn_residuals(puzzles)

    @torch.no_grad()
    def learn_residuals(self, puzzles: Puzzles, *, batch: int = 100) -> None:
        """Estimate the residuals of the last group from pairs of its own rules, such as these."""
        puzzles = puzzles[:RESIDUAL_PUZZLES]
        render = puzzles.renderer(next(self.parameters()).device)
        residuals: dict[GroupedMemory, list[Tensor]] = {}
        last, was_training = self.config.groups - 1, self.training
        self.eval()
        for at in range(0, len(puzzles), batch):
            images = render(puzzles.specs[at : at + batch]).images[:, :2]
            x, y = self.encode(images).unbind(1)
            for memory, reading in self.compose_by_group(x, y, last)[1].items():
                residuals.setdefault(memory, []).append(reading.residual)
        for memory, parts in residuals.items():
            memory.residuals.learn(last, torch.cat(parts))
        self.train(was_training)
