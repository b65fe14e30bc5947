"""Letter strings solved without choices: every rule is tried, and the model ranks the results.

    answer = solve_text(fine.load("all-strings"), "abc", "abd", "mmnnpp")
    answer.text, answer.rules[0]                   # mmnnqq, last +1

The function composed from x → y is applied to x and to the new string, and compared, in the model's
own metric, with what every rule makes of the two. Letters, unlike images, can be compared exactly:
rules that make y of x to the letter come first. The model ranks those, and the others where there
is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.errors import FineError
from fine.images.letters import check_text, grid
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.rules.strings import string_rules


@dataclass(frozen=True)
class RankedRule:
    """A rule, what it makes of the new string, and its probability among the rules of its set."""

    rule: str
    """The rule in words, such as last +1."""
    answer: str
    """What it makes of the new string."""
    probability: float
    """How probable it is among the rules of its set."""
    explains: bool
    """Whether it makes y of x, to the letter."""


@dataclass(frozen=True)
class TextAnswer:
    """What a model takes for the answer."""

    text: str
    """The answer."""
    rules: tuple[RankedRule, ...]
    """Every rule of the set: those that make y of x first, the most probable first of each."""
    probability: float
    """How sure the model is: the share of the candidate rules that make this answer."""


@torch.inference_mode()
def solve_text(model: FINE, x: str, y: str, new: str, *, rules: str = "all") -> TextAnswer:
    """What is to ``new`` as y is to x, by the rule that does most nearly what made y from x.

    Args:
        model: A model that reads letter strings, such as ``all-strings``.
        x: The string of the example.
        y: What became of it.
        new: Another string.
        rules: The set of rules to try: families of strings joined by ``+``, or ``all``.

    Examples:
        >>> import fine
        >>> fine.solve_text(fine.load("all-strings"), "abc", "abd", "ijk").text
        'ijl'
    """
    if model.config.encoder != "strings":
        raise FineError(
            "this model reads images, not strings: load 'all-strings', or train one with --task "
            "strings"
        )
    for text, name in ((x, "x"), (y, "y"), (new, "new")):
        check_text(text, name)
    known = string_rules(rules)
    made = {
        number: (known.apply(number, x), known.apply(number, new)) for number in range(len(known))
    }
    # Deleting the only letter leaves nothing, which is no answer.
    made = {number: texts for number, texts in made.items() if all(texts)}
    if not made:
        raise FineError(
            f"the rules {rules} leave no letter of '{x}' or of '{new}': give longer strings, or "
            "more rules"
        )
    results = [text for texts in made.values() for text in texts]
    probabilities = _logits(model, (x, y, new), results).softmax(0).tolist()
    ranked = [
        RankedRule(str(known.rules[number]), of_new, probability, explains=of_x == y)
        for (number, (of_x, of_new)), probability in zip(made.items(), probabilities, strict=True)
    ]
    ranked.sort(key=lambda rule: (rule.explains, rule.probability), reverse=True)
    candidates = [rule for rule in ranked if rule.explains] or ranked
    shares: dict[str, float] = {}
    for rule in candidates:
        shares[rule.answer] = shares.get(rule.answer, 0.0) + rule.probability
    answer = max(shares, key=shares.__getitem__)
    return TextAnswer(answer, tuple(ranked), shares[answer] / sum(shares.values()))


def _logits(model: FINE, puzzle: Sequence[str], results: Sequence[str]) -> Tensor:  # (rules,)
    """How near rules come to the function of x → y, from what each of them makes of x and of x'."""
    device = next(model.parameters()).device
    embeddings = model.eval().encode(grid([*puzzle, *results]).to(device)[None])
    x, y, new = embeddings[:, :3].unbind(1)
    weights = model.compose(x, y)
    guesses = torch.stack([model.apply_function(weights, one) for one in (x, new)], dim=1)
    made = embeddings[0, 3:].unflatten(0, (-1, 2))  # (rules, 2, rows, columns)
    return check_finite(-model.distance(made, guesses).sum(1))
