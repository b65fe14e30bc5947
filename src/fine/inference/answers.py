"""An answer to a puzzle: which choice is taken, how sure that is, by which rule, what is doubtful.

    answer = decide(calibrated, own, evidence, network=(), residual=0.1, distance=0.2)
    answer.letter, answer.probability, answer.rule, answer.doubts

A network and the pixels have a say, and both are kept apart. The network composes a function and
takes the choice nearest to what it makes of x'. Beside it, rules are tried on the pixels of the
hint. If one explains them and makes exactly one of the choices out of x', that choice is taken.
``model_probabilities`` are the network's alone.
"""

from dataclasses import dataclass

from torch import Tensor

from fine.drawing.terminal import choice_name
from fine.inference import doubts as doubt
from fine.inference.naming import NamedRule
from fine.inference.verification import NOTHING, Evidence, tolerance
from fine.models.finite import check_finite

VERIFIED = 0.97
"""How sure an answer is, at least, that a rule has made to the pixel: set by hand, below the share
of such answers that were right (docs/solve.md)."""
AMBIGUOUS = 0.1
"""If rules that explain the hint make things of x' that differ by more, it shows too little."""
UNEXPLAINED = 0.2
"""A difference of the hint with which no rule is near to explaining it."""


@dataclass(frozen=True)
class Answer:
    """What is taken for the answer, and why.

    Examples:
        >>> import fine
        >>> answer = fine.Answer(index=1, probabilities=(0.1, 0.7, 0.1, 0.1))
        >>> answer.letter, answer.probability
        ('B', 0.7)
    """

    index: int
    """The place of the choice, from 0."""
    probabilities: tuple[float, ...]
    """One for each choice; together 1. Calibrated, if the model is."""
    model_probabilities: tuple[float, ...] = ()
    """What the network alone says, as it is."""
    rule: NamedRule | None = None
    """The rule that was found on the pixels of the hint; None if none explains it."""
    verified: bool = False
    """Whether that rule makes exactly this one of the choices out of x'."""
    doubts: tuple[str, ...] = ()
    """What speaks against any answer; empty: the answer stands."""
    residual: float = 0.0
    """What the network's memory leaves of the hint, as a share of y."""
    distance: float = 0.0
    """From f(x') to the choice that the network takes, relative to the size of that choice."""
    evidence: Evidence = NOTHING
    """What the pixels say."""

    @property
    def probability(self) -> float:
        """How sure the answer is."""
        return self.probabilities[self.index]

    @property
    def letter(self) -> str:
        """The choice as people call it: A, B, C …"""
        return choice_name(self.index)

    @property
    def model_index(self) -> int:
        """The choice that the network takes by itself."""
        values = self.model_probabilities or self.probabilities
        return values.index(max(values))


def decide(
    calibrated: list[float],
    own: list[float],
    evidence: Evidence,
    *,
    network: tuple[str, ...],
    residual: float,
    distance: float,
) -> Answer:
    """The answer that the network and the pixels give together."""
    place = _deciding(evidence)
    probabilities, index = calibrated, own.index(max(own))
    if place is not None:
        index = evidence.made[place]
        # What is left of certainty is shared out as the network would.
        probabilities = [(1 - VERIFIED) * value for value in calibrated]
        probabilities[index] += VERIFIED
    rule = named(evidence, place or 0)
    return Answer(
        index=index,
        probabilities=tuple(probabilities),
        model_probabilities=tuple(own),
        rule=rule,
        verified=place is not None,
        doubts=_doubts(evidence, network, verified=place is not None),
        residual=residual,
        distance=distance,
        evidence=evidence,
    )


def _deciding(evidence: Evidence) -> int | None:
    """The place of the rule that decides: the simplest that makes exactly one choice.

    `explain` names the simplest first as well, so that its rule and the answer agree.
    """
    return next((place for place, made in enumerate(evidence.made) if made >= 0), None)


def named(evidence: Evidence, place: int = 0) -> NamedRule | None:
    """A rule that was found, as one with a name; its probability is the share that it explains."""
    if not evidence.found:
        return None
    found = evidence.found[place]
    first = found.rules[0]
    return NamedRule(
        family=first.family.name if len(found.rules) == 1 else "several",
        parameters=first.parameters if len(found.rules) == 1 else (),
        label=found.label,
        probability=1 - min(1.0, found.difference),
        errors=found.errors,
        parts=found.rules,
    )


def _doubts(evidence: Evidence, network: tuple[str, ...], *, verified: bool) -> tuple[str, ...]:
    if len(evidence.possible) > 1:
        return (doubt.SHOWS_NOTHING,)
    if verified:
        return ()
    if not evidence.found:
        unknown = evidence is not NOTHING and evidence.difference > UNEXPLAINED
        return tuple(dict.fromkeys((*([doubt.UNKNOWN_RULE] if unknown else []), *network)))
    least = min(evidence.choice_differences)
    near = [
        difference
        for difference in evidence.choice_differences
        if difference <= tolerance(evidence.found[0])
    ]
    if len(near) > 1:
        return (doubt.EQUALLY_GOOD,)
    if evidence.ambiguity > AMBIGUOUS:
        return (doubt.SHOWS_NOTHING,)
    return (doubt.NONE_FITS,) if least > tolerance(evidence.found[0]) else ()


def answers_of(logits: Tensor) -> list[Answer]:  # (b, k)
    """Logits as answers of the network alone."""
    probabilities = check_finite(logits.softmax(dim=1))
    rows = zip(probabilities.argmax(dim=1).tolist(), probabilities.tolist(), strict=True)
    return [Answer(index, tuple(row), tuple(row)) for index, row in rows]
