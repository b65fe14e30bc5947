"""How good a model is on puzzles it has not seen: accuracy with its interval, kinds of mistakes, and a row for every rule.

evaluation = evaluate(model, task.test_puzzles())
print(evaluation.accuracy, evaluation.interval, evaluation.mistakes)
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fine.allocation import keep_freed_memory
from fine.drawing import draw_sheet, solved_and_missed
from fine.processes import ALONE, Processes
from fine.puzzles import KINDS, RIGHT, WRONG, Puzzles
from fine.questions import Asked

MEASURED = {"translation": math.inf, "rotation": 360.0, "shear": math.inf}
"""Families whose parameters are lengths or angles, so that two rules are some distance apart, and where they come round."""


@dataclass(frozen=True)
class Evaluation:
    """What a model answered, puzzle by puzzle, and what follows from it."""

    puzzles: Puzzles
    chosen: NDArray[np.int64]
    """(n,): the place of the choice the model took."""
    probabilities: NDArray[np.float32]
    """(n, 4): the probability the model gave to each choice."""

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n,): what the model took: 0 right, 1 wrong rule, 2 wrong object, 3 both wrong."""
        return np.take_along_axis(self.puzzles.kinds, self.chosen[:, None], axis=1)[:, 0]

    @property
    def accuracy(self) -> float:
        """Share of puzzles answered right."""
        return float((self.kinds == 0).mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the accuracy (Wilson)."""
        return wilson(int((self.kinds == 0).sum()), len(self.kinds))

    @property
    def mistakes(self) -> dict[str, float]:
        """Share of all puzzles answered with each wrong kind of choice."""
        return {KINDS[kind]: float((self.kinds == kind).mean()) for kind in (1, 2, 3)}

    def by_rule(self) -> list[dict[str, Any]]:
        """For every rule that was the hidden one: how many puzzles, and the share of each kind of answer."""
        rows = []
        for number, rule in enumerate(self.puzzles.rules.rules):
            kinds = self.kinds[self.puzzles.hidden == number]
            if len(kinds):
                shares = {name: round(float((kinds == kind).mean()), 4) for kind, name in enumerate(KINDS)}
                rows.append({"family": rule.family.name, "rule": str(rule), "puzzles": len(kinds), **shares})
        return rows

    def confusions(self) -> list[dict[str, Any]]:
        """How often the right object was taken under the wrong rule, by how far that rule was from the hidden one.

        For puzzles whose two rules are of one family with distances: family, how far apart in each parameter, how many
        puzzles, and the share of them.
        """
        rules = self.puzzles.rules.rules
        counts: dict[tuple[str, tuple[float, ...]], list[int]] = {}
        for right, wrong, kind in zip(*self.puzzles.specs[:, [RIGHT, WRONG]].T.tolist(), self.kinds.tolist(), strict=True):
            family, other = rules[right].family, rules[wrong].family
            if family == other and family.name in MEASURED:
                steps = zip(rules[right].parameters, rules[wrong].parameters, strict=True)
                round_trip = MEASURED[family.name]
                apart = tuple(min(abs(one - two), round_trip - abs(one - two)) for one, two in steps)
                count = counts.setdefault((family.name, apart), [0, 0])
                count[0] += 1
                count[1] += kind == 1
        return [
            {"family": family, "apart": list(apart), "puzzles": puzzles, KINDS[1]: round(taken / puzzles, 4)}
            for (family, apart), (puzzles, taken) in sorted(counts.items())
        ]

    def draw(self, path: Path, *, solved: int = 6, missed: int = 6) -> None:
        """A sheet of puzzles that were solved and missed, as PNG or SVG."""
        numbers = solved_and_missed(self.puzzles, self.chosen, solved=solved, missed=missed)
        if isinstance(self.puzzles, Asked):
            from fine.drawing.asked import draw_asked  # late, because it brings matplotlib

            rows = [number for group in numbers.values() for number in group]
            draw_asked(self.puzzles, rows, path, answers=True, chosen=self.chosen)
            return
        draw_sheet(self.puzzles, numbers, path, answers=True, chosen=self.chosen, probabilities=self.probabilities)

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


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a proportion; unlike the normal one it stays inside 0..1 and is right near the ends."""
    z = 1.959964
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return centre - half, centre + half


@torch.no_grad()
def evaluate(
    model: nn.Module,
    puzzles: Puzzles,
    *,
    batch: int = 100,
    device: torch.device | str = "cpu",
    processes: Processes = ALONE,
) -> Evaluation:
    """Let the model answer every puzzle; several processes take turns at the batches, and all of them know all answers."""
    keep_freed_memory()
    was_training = model.training
    model.eval()
    render = puzzles.renderer(device)
    logits = torch.zeros(puzzles.kinds.shape, device=device)
    for at in range(processes.rank * batch, len(puzzles), processes.count * batch):  # whole batches: the same bits as alone
        logits[at : at + batch] = model(render(puzzles.specs[at : at + batch]).pictures)
    processes.sum((logits,))  # what others answered is 0 here
    model.train(was_training)
    probabilities = logits.softmax(dim=1).cpu().numpy()
    return Evaluation(puzzles, logits.argmax(dim=1).cpu().numpy(), probabilities)
