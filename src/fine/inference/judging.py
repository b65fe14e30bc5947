"""Answers that may be "none of these": does the model know the rule, and does any choice fit?

    judged = judge(model, calibration, x, y, new, choices)
    judged.answer, judged.confidence, judged.doubts       # no doubts: the answer stands

The thresholds are those of the model's `Calibration`, fitted on puzzles that training did not show.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fine.evaluation.calibration import Calibration, ood_scores
from fine.inference.answers import Answer, answers_of, list_choices
from fine.inference.puzzle_images import prepared
from fine.inference.reading import Source
from fine.models.paper import FINE

UNKNOWN_RULE = "the hint shows no rule this model knows"
NONE_FITS = "none of the choices is what the rule makes of the new image"
NONE_STANDS_OUT = "no choice fits much better than the others"


@dataclass(frozen=True)
class CalibratedAnswer:
    """An answer, how sure it is, and what speaks against any answer."""

    answer: Answer
    """What the model takes if it has to take one."""
    confidence: float
    """How often such an answer is right, if the rule is known and a right choice is there."""
    residual: float
    """What the memory leaves of the hint, as a share of y."""
    distance: float
    """From f(x') to the choice taken, relative to the size of that choice."""
    doubts: tuple[str, ...]
    """Why none of the choices may be the answer; empty: the answer stands."""

    @property
    def none(self) -> bool:
        """Whether to answer "none of these"."""
        return bool(self.doubts)


def judge(
    model: FINE,
    calibration: Calibration,
    x: Source,
    y: Source,
    new: Source,
    choices: Iterable[Source],
) -> CalibratedAnswer:
    """Which of the choices is to ``new`` what y is to x, and whether any of them is."""
    shown = list_choices(choices)
    scores = ood_scores(model, prepared(model, [x, y, new, *shown])[None])
    (answer,) = answers_of(scores.logits)
    probabilities = calibration.probabilities(scores.logits)[0]
    reasons = (UNKNOWN_RULE, NONE_FITS, NONE_STANDS_OUT)
    beyond = calibration.beyond(scores)
    return CalibratedAnswer(
        answer=answer,
        confidence=float(probabilities[answer.index]),
        residual=float(scores.residual[0]),
        distance=float(scores.distance[0]),
        doubts=tuple(doubt for doubt, found in zip(reasons, beyond, strict=True) if found[0]),
    )
