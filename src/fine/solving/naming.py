"""What a composed function does, in words: the named rules that do most nearly the same to x.

explain(model, "x.png", "y.png")                   # rotation 45° 93 %, rotation 30° 5 %, shear (15°, -30°) 1 %

The function composed from x → y is applied to the code of x and compared, in the model's own metric, with the codes of x under
every rule of a set. So it says what the model has made of the example, which may not be what made the example.
"""

import functools
from dataclasses import dataclass

import torch

from fine.errors import FineError
from fine.models.fine import FINE
from fine.rules import FAMILIES, Rule, RuleSet, Warp, rule_set
from fine.solving.answers import prepared
from fine.solving.pictures import Source

SHARPNESS = 4.0
"""Factor on distances before the softmax over rules: with it a rule is about as often the right one as its probability says."""


@dataclass(frozen=True)
class NamedRule:
    """A rule and how probable it is among the rules of its set."""

    family: str
    parameters: tuple[float, ...]
    label: str
    """The rule in words, such as rotation 45°."""
    probability: float

    @property
    def rule(self) -> Rule:
        """The rule itself, as pictures can be put under."""
        return Rule(FAMILIES[self.family], self.parameters)

    def __str__(self) -> str:
        return f"{self.label} {self.probability:.0%}"


@torch.inference_mode()
def explain(model: FINE, x: Source, y: Source, *, rules: str = "all", k: int = 3) -> tuple[NamedRule, ...]:
    """The ``k`` rules of a set that do most nearly what the function composed from x → y does, the nearest first."""
    if k < 1:
        raise FineError(f"k is {k}: give the number of rules to name, at least 1")
    model.eval()
    pictures = prepared(model, [x, y, x])  # x is what the function is applied to as well
    warp, members = distinct_rules(rule_set(rules), model.size, pictures.device)
    choices = warp(pictures[2].expand(len(members), -1, -1, -1), torch.arange(len(members), device=pictures.device))
    probabilities = (SHARPNESS * model(torch.cat((pictures, choices))[None])[0]).softmax(0).tolist()
    named = [
        NamedRule(rule.family.name, rule.parameters, str(rule), probability)
        for rule, probability in zip(members, probabilities, strict=True)
    ]
    return tuple(sorted(named, key=lambda rule: -rule.probability)[:k])


@functools.lru_cache(maxsize=8)
def distinct_rules(rules: RuleSet, size: int, device: torch.device | str = "cpu") -> tuple[Warp, tuple[Rule, ...]]:
    """The rules of a set without those that do the same as an earlier one, such as rotation by 0° and scale × 1."""
    warp = Warp(rules, size=size)
    looks = warp.grids.flatten(1)
    if warp.negatives is not None:
        looks = torch.cat((looks, warp.negatives.flatten(1).float()), dim=1)
    first: dict[bytes, Rule] = {}
    for look, rule in zip(looks, rules.rules, strict=True):
        first.setdefault(look.numpy().tobytes(), rule)
    kept = tuple(first.values())
    return Warp(RuleSet(rules.name, kept), size=size, device=device), kept
