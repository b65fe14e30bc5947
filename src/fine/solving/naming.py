"""What a composed function does, in words: the named rules that do most nearly the same to x.

explain(model, "x.png", "y.png")                   # rotation 45° 93 %, rotation 30° 5 %, shear (15°, -30°) 1 %

The function composed from x → y is applied to the code of x and compared, in the model's own metric, with the codes of x under
every rule of a set. So it says what the model has made of the example, which may not be what made the example.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.models.fine import FINE
from fine.rules import FAMILIES, Rule, RuleSet, Warp
from fine.solving.pictures import Source

SHARPNESS = 4.0
"""Factor on distances before the softmax over rules. `all-glyphs` is then too modest: its names are right more often than said
(docs/solve.md)."""


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
    model.eval()
    return model.function(x, y).nearest(rules=rules, k=k)


def logits_of_rules(model: FINE, function: Callable[[Tensor], Tensor], picture: Tensor, warp: Warp) -> Tensor:  # -> (rules,)
    """How near a function of codes comes to every rule of a warp on a picture (channels, size, size)."""
    numbers = torch.arange(len(warp.grids), device=picture.device)
    choices = warp(picture.expand(len(numbers), -1, -1, -1), numbers)
    codes = model.encode(torch.cat((picture[None], choices))[None], firsts=[0] * (1 + len(choices)))[0]
    return -model.distance(codes[1:], function(codes[:1]))


def ranked(rules: tuple[Rule, ...], probabilities: Tensor) -> tuple[NamedRule, ...]:
    """Rules with their probabilities, the most probable first."""
    order = probabilities.argsort(descending=True).tolist()
    values = probabilities.tolist()
    return tuple(NamedRule(rules[n].family.name, rules[n].parameters, str(rules[n]), values[n]) for n in order)


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
