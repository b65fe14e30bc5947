"""Letter strings solved without choices: every rule is tried on the new string, and the model says which does what it would do.

    answer = solve_text(fine.load("all-strings"), "abc", "abd", "mmnnpp")
    answer.text, answer.rules[0]                   # mmnnqq, last +1

The function composed from x → y is applied to x and to the new string, and compared, in the model's own metric, with what every
rule makes of the two. Letters, unlike pictures, can be compared exactly: rules that make y of x to the letter come first, and
the model ranks those, and the others where there is none.
"""

from dataclasses import dataclass

import torch

from fine.errors import FineError
from fine.models.fine import FINE
from fine.strings import check_text, grid, string_rules


@dataclass(frozen=True)
class RankedRule:
    """A rule, what it makes of the new string, and how probable the model finds it among all rules of its set."""

    rule: str
    """The rule in words, such as last +1."""
    answer: str
    probability: float
    explains: bool
    """Whether it makes y of x, to the letter."""


@dataclass(frozen=True)
class TextAnswer:
    """What a model takes for the answer."""

    text: str
    rules: tuple[RankedRule, ...]
    """Every rule of the set: those that make y of x first, the most probable first of each."""
    probability: float
    """How sure the model is: the share of the rules that make this answer among those it may be."""


@torch.inference_mode()
def solve_text(model: FINE, x: str, y: str, new: str, *, rules: str = "all") -> TextAnswer:
    """What is to ``new`` as y is to x, by the rule that does most nearly what the composed function does."""
    if model.config.encoder != "strings":
        raise FineError("this model reads pictures, not strings: load 'all-strings', or train one with --task strings")
    for text, name in ((x, "x"), (y, "y"), (new, "new")):
        check_text(text, name)
    known = string_rules(rules)
    made = [(known.apply(number, x), known.apply(number, new)) for number in range(len(known))]
    possible = [number for number, texts in enumerate(made) if all(texts)]  # nothing is left of a letter that is deleted
    shown = [x, y, new, *(text for number in possible for text in made[number])]
    codes = model.eval().encode(grid(shown).to(next(model.parameters()).device)[None])
    weights = model.compose(codes[:, 0], codes[:, 1])
    guesses = torch.stack([model.apply_function(weights, codes[:, place]) for place in (0, 2)], dim=1)  # (1, 2, rows, columns)
    logits = -model.distance(codes[0, 3:].unflatten(0, (-1, 2)), guesses).sum(1)  # (rules,)
    probabilities = logits.softmax(0).tolist()
    named = [
        RankedRule(str(known.rules[n]), made[n][1], p, made[n][0] == y) for n, p in zip(possible, probabilities, strict=True)
    ]
    named.sort(key=lambda rule: (rule.explains, rule.probability), reverse=True)
    candidates = [rule for rule in named if rule.explains] or named
    shares: dict[str, float] = {}
    for rule in candidates:
        shares[rule.answer] = shares.get(rule.answer, 0.0) + rule.probability
    answer = max(shares, key=shares.__getitem__)
    return TextAnswer(answer, tuple(named), shares[answer] / sum(shares.values()))
