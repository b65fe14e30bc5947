"""A benchmark solved by a model, and what came out, by concept and parameter."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fine.benchmarks.choosing import Chooser, choose
from fine.benchmarks.puzzles import BenchmarkPuzzle
from fine.evaluation.metrics import wilson
from fine.inference import Answer, solve_many
from fine.models.paper import FINE


@dataclass(frozen=True)
class BenchmarkRow:
    """How many puzzles of one kind were answered right."""

    concept: str
    parameter: str
    """Empty for a whole concept."""
    puzzles: int
    right: int
    right_alone: int
    """By the network alone."""
    verified: int
    """Puzzles in which a rule explained the hint and made exactly one choice."""
    chance: float
    """The share that a guess gets right."""

    @property
    def accuracy(self) -> float:
        return self.right / self.puzzles

    @property
    def accuracy_alone(self) -> float:
        return self.right_alone / self.puzzles

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the accuracy (Wilson)."""
        return wilson(self.right, self.puzzles)

    def as_json(self) -> dict[str, Any]:
        shares = {"accuracy": self.accuracy, "accuracy_alone": self.accuracy_alone}
        rounded = {name: round(share, 5) for name, share in shares.items()}
        interval = [round(bound, 5) for bound in self.interval]
        return {**asdict(self), **rounded, "interval": interval}


@dataclass(frozen=True)
class BenchmarkOutcome:
    """The answers to the puzzles of a benchmark."""

    puzzles: tuple[BenchmarkPuzzle, ...]
    answers: tuple[Answer, ...]

    def rows(self) -> list[BenchmarkRow]:
        """A row for each concept, followed by its parameters if it has several; then all."""
        rows = []
        for concept in dict.fromkeys(puzzle.concept for puzzle in self.puzzles):
            rows.append(self._row(concept, None))
            inner = dict.fromkeys(p.parameter for p in self.puzzles if p.concept == concept)
            if len(inner) > 1:
                rows += [self._row(concept, parameter) for parameter in inner]
        return rows if len(rows) == 1 else [*rows, self._row(None, None)]

    def _row(self, concept: str | None, parameter: str | None) -> BenchmarkRow:
        members = [
            (puzzle, answer)
            for puzzle, answer in zip(self.puzzles, self.answers, strict=True)
            if concept in (None, puzzle.concept) and parameter in (None, puzzle.parameter)
        ]
        return BenchmarkRow(
            concept="all" if concept is None else concept,
            parameter=parameter or "",
            puzzles=len(members),
            right=sum(answer.index == puzzle.answer for puzzle, answer in members),
            right_alone=sum(answer.model_index == puzzle.answer for puzzle, answer in members),
            verified=sum(answer.verified for _, answer in members),
            chance=round(sum(1 / len(puzzle.choices) for puzzle, _ in members) / len(members), 5),
        )


def run_benchmark(
    model: FINE | Chooser, puzzles: Sequence[BenchmarkPuzzle], *, verify: bool = True
) -> BenchmarkOutcome:
    """Let a model answer every puzzle; with ``verify=False``, without a look at the pixels.

    A model that composes no functions always answers without.
    """
    if isinstance(model, Chooser):
        return BenchmarkOutcome(tuple(puzzles), tuple(choose(model, puzzles)))
    asked = ((puzzle.x, puzzle.y, puzzle.new, puzzle.choices) for puzzle in puzzles)
    return BenchmarkOutcome(tuple(puzzles), tuple(solve_many(model, asked, verify=verify)))
