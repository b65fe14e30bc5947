"""Whether one model is better than another on the same puzzles: McNemar's test.

    test = paired_test(evaluate(ours, puzzles), evaluate(theirs, puzzles))
    print(test.difference, test.interval, test.p_value)

Two models that answer the same puzzles find the same ones easy, so their accuracies are not
independent. What tells them apart are the puzzles that only one of them has right.
"""

import math
from dataclasses import dataclass

import numpy as np

from fine.errors import FineError
from fine.evaluation.metrics import Scored, Z


@dataclass(frozen=True)
class PairedTest:
    """How many puzzles both, one or none of two models have right.

    Examples:
        >>> from fine.evaluation import PairedTest
        >>> test = PairedTest(both=80, only_first=12, only_second=2, neither=6)
        >>> f"{test.difference:.2f}, p = {test.p_value:.3f}"
        '0.10, p = 0.013'
    """

    both: int
    """Puzzles that both have right."""
    only_first: int
    """Puzzles that the first one alone has right."""
    only_second: int
    """Puzzles that the second one alone has right."""
    neither: int
    """Puzzles that both have wrong."""

    @property
    def puzzles(self) -> int:
        """How many there are."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float:
        """The accuracy of the first less that of the second."""
        return (self.only_first - self.only_second) / self.puzzles

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the difference (Bonett and Price 2012).

        It is the normal one with a puzzle added to either side, so that it has a width even if one
        side is empty.
        """
        first = (self.only_first + 1) / (self.puzzles + 2)
        second = (self.only_second + 1) / (self.puzzles + 2)
        centre = first - second
        half = Z * math.sqrt((first + second - centre**2) / (self.puzzles + 2))
        return max(-1.0, centre - half), min(1.0, centre + half)

    @property
    def p_value(self) -> float:
        """How likely so lopsided a split is if neither is better (McNemar, exact, two-sided)."""
        decided = self.only_first + self.only_second
        fewer = min(self.only_first, self.only_second)
        tail = sum(_binomial(decided, count) for count in range(fewer + 1))
        return min(1.0, 2 * tail)


def paired_test(first: Scored, second: Scored) -> PairedTest:
    """Compare two evaluations of the same puzzles.

    Args:
        first: What one model answered, from `evaluate` or `evaluate_predictions`.
        second: What the other one answered.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=50)
        >>> puzzles = task.test_puzzles()
        >>> first = fine.evaluate(fine.load("universal"), puzzles)
        >>> second = fine.evaluate(fine.load("affine-omniglot"), puzzles)
        >>> fine.paired_test(first, second).puzzles
        50
    """
    if len(first.kinds) != len(second.kinds):
        raise FineError(
            f"{len(first.kinds):,} and {len(second.kinds):,} puzzles cannot be paired: both must "
            "answer the same ones"
        )
    if first.asked != second.asked:
        raise FineError("the two answer other puzzles, which cannot be paired: give the same ones")
    one, other = first.kinds == 0, second.kinds == 0
    return PairedTest(
        both=int(np.sum(one & other)),
        only_first=int(np.sum(one & ~other)),
        only_second=int(np.sum(~one & other)),
        neither=int(np.sum(~one & ~other)),
    )


def _binomial(trials: int, count: int) -> float:
    """The probability of ``count`` heads in ``trials`` throws of a fair coin."""
    ways = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    return math.exp(ways - trials * math.log(2))
