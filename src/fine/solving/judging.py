"""Answers that may be none: is the hint a rule the model knows, and is any of the choices what it makes of the new picture?

    verdict = judge(model, calibration, x, y, new, choices)
    verdict.answer, verdict.confidence, verdict.doubts             # no doubts: the answer stands

The limits are those of the model's `Calibration`, found on training puzzles that training has not shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fine.errors import FineError
from fine.functions.calibration import Calibration, signs_of
from fine.models.fine import FINE
from fine.solving.answers import Answer, prepared, solve
from fine.solving.pictures import Source

STRANGE_HINT = "the hint shows no rule this model knows"
NONE_FITS = "none of the choices is what the rule makes of the new picture"
NONE_STANDS_OUT = "no choice fits much better than the others"


@dataclass(frozen=True)
class Verdict:
    """An answer, how sure it is, and what speaks against any answer."""

    answer: Answer
    """What the model takes if it has to take one."""
    confidence: float
    """How often such an answer is right, if the rule is known and a right choice is there."""
    hint: float
    """What the memory leaves unexplained of the hint, as a share of y."""
    nearest: float
    """How far the function stays from the choice it takes, as a share of that."""
    doubts: tuple[str, ...]
    """Why none of the choices may be the answer; empty: the answer stands."""

    @property
    def none(self) -> bool:
        """Whether to answer "none of these"."""
        return bool(self.doubts)


def judge(model: FINE, calibration: Calibration, x: Source, y: Source, new: Source, choices: Sequence[Source]) -> Verdict:
    """Which of the choices is to ``new`` what y is to x, and whether any of them is."""
    if len(choices) < 2:
        raise FineError(f"there are {len(choices)} choices: a puzzle needs at least 2 to choose from")
    answer = solve(model, x, y, new, choices)  # to the last digit what is answered where nothing is judged
    signs = signs_of(model, prepared(model, [x, y, new, *choices])[None])
    calibrated = (signs.logits[0] / calibration.temperature).softmax(0)
    words = (STRANGE_HINT, NONE_FITS, NONE_STANDS_OUT)
    doubts = tuple(doubt for doubt, beyond in zip(words, calibration.beyond(signs), strict=True) if beyond[0])
    return Verdict(answer, float(calibrated[answer.index]), float(signs.hint[0]), float(signs.answer[0]), doubts)
