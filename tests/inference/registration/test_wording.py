"""Rules in words: digits that mean something, and nothing that was not done."""

import pytest

from fine.inference.registration.wording import in_words
from fine.rules import FAMILIES, Rule


def mix(*values: float) -> Rule:
    return Rule(FAMILIES["any-mix"], values)


@pytest.mark.parametrize(
    ("rule", "errors", "words"),
    [
        (Rule(FAMILIES["rotation"], (37.16,)), (0.05,), "rotation 37.16° ± 0.05"),
        (Rule(FAMILIES["rotation"], (37.16,)), (2.0,), "rotation 37° ± 2"),
        (Rule(FAMILIES["rotation"], (90.0,)), (), "rotation 90°"),
        (Rule(FAMILIES["any-scale"], (0.6,)), (0.002,), "scale ×0.600 ± 0.002"),
        (mix(1, 359.999, 0.72, 0, 0), (0, 0.01, 0.001, 0.01, 0.01), "mirrored left-right, scale"),
        (mix(0, 359.8, 1, 0, 0), (0, 0.01, 0.001, 0.01, 0.01), "rotation 359.80° ± 0.01"),
        (
            mix(0, 0, 1, 3.2, 0),
            (0, 0.1, 0.1, 0.032, 0.032),
            "translation 10.0 % ± 0.1 right, 0.0 %",
        ),
        (mix(0, 0, 1, 0, 0), (), "unchanged"),
    ],
)
def test_a_rule_in_words(rule, errors, words):
    said = in_words((rule,), (errors,) if errors else ())
    assert said.startswith(words)
    assert said.count(",") <= words.count(",") + 1


def test_rules_one_after_another():
    rules = (Rule(FAMILIES["rotation"], (30.0,)), Rule(FAMILIES["scale"], (0.5,)))
    assert in_words(rules) == "rotation 30°, then scale ×0.5"
