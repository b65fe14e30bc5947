"""How good a model is on puzzles it has not seen: accuracy, kinds of mistakes, accuracy by rule.

evaluation = evaluate(model, task.test_puzzles())
print(evaluation.accuracy, evaluation.interval, evaluation.mistakes)
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fine.allocation import keep_freed_memory
from fine.distributed import ALONE, ProcessGroup
from fine.models.finite import check_finite
from fine.puzzles import KINDS, RIGHT, WRONG, Puzzles
from fine.rules import Rule

PERIODS = {"translation": math.inf, "rotation": 360.0, "shear": math.inf}
"""The periods of parameters, for families in which they are lengths or angles."""
Z = 1.959964
"""Standard deviations of a normal distribution within which 95 % of it lie."""


class Scored:
    """Answers to puzzles, by a model of fine or by any other program, with the kind of each."""

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n,): 0 right; any other number is a kind of mistake."""
        raise NotImplementedError

    @property
    def asked(self) -> list[tuple[str, list[int]]]:
        """Of each puzzle the hidden rule, in words, and the kinds of its choices in their order."""
        return []

    @property
    def accuracy(self) -> float:
        """Share of puzzles answered right; one without an answer counts as wrong."""
        return float((self.kinds == 0).mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the accuracy (Wilson)."""
        return wilson(int((self.kinds == 0).sum()), len(self.kinds))


@dataclass(frozen=True, eq=False)
class Evaluation(Scored):
    """What a model answered, puzzle by puzzle, and what follows from it.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=50)
        >>> evaluation = fine.evaluate(fine.load("all-glyphs"), task.test_puzzles())
        >>> low, high = evaluation.interval
        >>> evaluation.accuracy > low > 0.8
        True
        >>> list(evaluation.mistakes)
        ['wrong rule', 'wrong object', 'both wrong']
        >>> [row["rule"] for row in evaluation.by_rule()]
        ['reflection left-right', 'reflection top-bottom']
    """

    puzzles: Puzzles
    """The puzzles."""
    chosen: NDArray[np.int64]
    """(n,): the place of the choice that the model took."""
    probabilities: NDArray[np.float32]
    """(n, k): the probability that the model gave to each choice."""

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n,): what the model took: 0 right, 1 wrong rule, 2 wrong object, 3 both wrong."""
        return np.take_along_axis(self.puzzles.kinds, self.chosen[:, None], axis=1)[:, 0]

    @property
    def asked(self) -> list[tuple[str, list[int]]]:
        """Of each puzzle the hidden rule, in words, and the kinds of its choices in their order."""
        rules = map(str, self.puzzles.rules.rules)
        names = np.array(list(rules), dtype=object)[self.puzzles.hidden]
        return list(zip(names.tolist(), self.puzzles.kinds.tolist(), strict=True))

    @property
    def mistakes(self) -> dict[str, float]:
        """Share of all puzzles answered with each wrong kind of choice."""
        return {KINDS[kind]: float((self.kinds == kind).mean()) for kind in (1, 2, 3)}

    def by_rule(self) -> list[dict[str, Any]]:
        """For every hidden rule: how many puzzles, and the share of each kind of answer."""
        rows = []
        for number, rule in enumerate(self.puzzles.rules.rules):
            kinds = self.kinds[self.puzzles.hidden == number]
            if not len(kinds):
                continue
            row = {"family": rule.family.name, "rule": str(rule), "puzzles": len(kinds)}
            for kind, name in enumerate(KINDS):
                row[name] = round(float((kinds == kind).mean()), 4)
            rows.append(row)
        return rows

    def confusions(self) -> list[dict[str, Any]]:
        """How often the right object was taken under the wrong rule, by the distance of the rules.

        Counted are puzzles whose two rules are of one family that has distances. A row has the
        family, the distance in each parameter, the number of puzzles, and the share of them.
        """
        rules = self.puzzles.rules.rules
        counts: dict[tuple[str, tuple[float, ...]], list[int]] = {}
        columns = self.puzzles.specs[:, [RIGHT, WRONG]].T.tolist()
        for right, wrong, kind in zip(*columns, self.kinds.tolist(), strict=True):
            apart = _distance(rules[right], rules[wrong])
            if apart is None:
                continue
            count = counts.setdefault((rules[right].family.name, apart), [0, 0])
            count[0] += 1
            count[1] += kind == 1
        rows = []
        for (family, apart), (puzzles, confused) in sorted(counts.items()):
            share = round(confused / puzzles, 4)
            rows.append(
                {"family": family, "apart": list(apart), "puzzles": puzzles, KINDS[1]: share}
            )
        return rows

    def summary(self) -> dict[str, Any]:
        """All of it as plain numbers, for a result file."""
        return {
            "accuracy": round(self.accuracy, 5),
            "interval": [round(bound, 5) for bound in self.interval],
            "puzzles": len(self.kinds),
            "chance": self.puzzles.chances,
            "mistakes": {name: round(share, 5) for name, share in self.mistakes.items()},
            "by_rule": self.by_rule(),
            "confusions": self.confusions(),
        }


def _distance(one: Rule, other: Rule) -> tuple[float, ...] | None:
    """How far apart two rules are in each parameter; None if their families have no distance."""
    if one.family != other.family or one.family.name not in PERIODS:
        return None
    period = PERIODS[one.family.name]
    pairs = zip(one.parameters, other.parameters, strict=True)
    return tuple(min(abs(a - b), period - abs(a - b)) for a, b in pairs)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a proportion.

    Unlike the normal interval it stays inside 0..1 and holds near both ends.
    """
    share, spread = successes / trials, Z * Z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, centre - half), min(1.0, centre + half)  # but for rounding


@torch.no_grad()
def evaluate(
    model: nn.Module,
    puzzles: Puzzles,
    *,
    batch: int = 100,
    device: torch.device | str = "cpu",
    group: ProcessGroup = ALONE,
) -> Evaluation:
    """Let the model answer every puzzle.

    The processes of a group take turns at the batches, and all of them get all answers.

    Args:
        model: Any model that turns images (b, 7, channels, size, size) into logits (b, 4).
        puzzles: What to ask.
        batch: Puzzles that are answered at once.
        device: Where the model is.
        group: The processes that share the work, under torchrun.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=50)
        >>> fine.evaluate(fine.load("all-glyphs"), task.test_puzzles()).accuracy > 0.8
        True
    """
    keep_freed_memory()
    was_training = model.training
    model.eval()
    render = puzzles.renderer(device)
    logits = torch.zeros(puzzles.kinds.shape, device=device)
    # A process takes whole batches, so that it computes the same bits as one process alone.
    for at in range(group.rank * batch, len(puzzles), group.count * batch):
        logits[at : at + batch] = model(render(puzzles.specs[at : at + batch]).images)
    group.sum((logits,))  # what other processes answered is 0 here
    model.train(was_training)
    probabilities = check_finite(logits.softmax(dim=1)).cpu().numpy()
    return Evaluation(puzzles, logits.argmax(dim=1).cpu().numpy(), probabilities)


def by_family(rows: Iterable[dict[str, Any]]) -> list[tuple[str, int, float]]:
    """(family, puzzles, share answered right), from rows of rules, in the order of the rules."""
    counts: dict[str, list[float]] = {}
    for row in rows:
        count = counts.setdefault(row["family"], [0, 0])
        count[0] += row["puzzles"]
        count[1] += row["puzzles"] * row["right"]
    return [(family, int(puzzles), right / puzzles) for family, (puzzles, right) in counts.items()]
