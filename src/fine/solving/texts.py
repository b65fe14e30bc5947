"""Letter strings solved without choices: every rule is tried on the new string, and the model says which does what it would do.

    answer = solve_text(fine.load("all-strings"), "abc", "abd", "mmnnpp")
    answer.text, answer.rules[0]                   # mmnnqq, last +1

The function composed from x → y is applied to x and to the new string, and compared, in the model's own metric, with what every
rule makes of the two. The model ranks; that a rule makes y of x exactly is only noted.
"""

from dataclasses import dataclass

import torch

from fine.errors import FineError
from fine.models.fine import FINE
from fine.strings import check_text, grid, string_rules


@dataclass(frozen=True)
class RankedRule:
    """A rule, what it makes of the new string, and how probable it is among the rules of its set."""

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
    """Every rule of the set, the most probable first."""

    @property
    def probability(self) -> float:
        """How sure the model is: the probabilities of all rules that make this answer."""
        return sum(rule.probability for rule in self.rules if rule.answer == self.text)


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
    ranked = sorted(zip(probabilities, possible, strict=True), reverse=True)
    named = tuple(RankedRule(str(known.rules[n]), made[n][1], share, made[n][0] == y) for share, n in ranked)
    by_answer: dict[str, float] = {}
    for rule in named:
        by_answer[rule.answer] = by_answer.get(rule.answer, 0.0) + rule.probability
    return TextAnswer(max(by_answer, key=by_answer.__getitem__), named)
