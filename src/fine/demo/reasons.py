"""Why a choice was taken, as the page tells it."""

from typing import Any

from fine.demo.messages import Found
from fine.demo.steps import found_in_words
from fine.inference import Answer, NamedRule


def reasons_of(answer: Answer) -> dict[str, Any]:
    """The fields of `Reasons`."""
    return {
        "rule": None if answer.rule is None else _found(answer.rule),
        "verified": answer.verified,
        "doubts": list(answer.doubts),
    }


def _found(rule: NamedRule) -> Found:
    return Found(words=found_in_words(rule), label=rule.label)
