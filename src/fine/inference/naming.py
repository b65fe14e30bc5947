"""What a composed function does, in words: the named rules that do most nearly the same to x.

    explain(model, "x.png", "y.png")    # rotation 45° 93 %, rotation 30° 5 %, shear (15°, -30°) 1 %

The function composed from x → y is applied to the embedding of x. The result is compared, in the
model's own metric, with the embeddings of x under every rule of a set. So the names say what the
model has made of the example, which may not be what made the example.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.rules import FAMILIES, Rule, RuleSet, Warp

SHARPNESS = 4.0
"""Factor on distances before the softmax over rules. `all-glyphs` is then underconfident:
its names are right more often than their probabilities say (docs/solve.md)."""


@dataclass(frozen=True)
class NamedRule:
    """A rule and how probable it is among the rules of its set.

    Examples:
        >>> import fine
        >>> named = fine.NamedRule("rotation", (45.0,), "rotation 45°", 0.93)
        >>> print(named)
        rotation 45° 93%
    """

    family: str
    """The family of the rule."""
    parameters: tuple[float, ...]
    """Its parameters, such as (45.0,)."""
    label: str
    """The rule in words, such as rotation 45°."""
    probability: float
    """How probable it is; over the whole set together 1."""
    errors: tuple[float, ...] = ()
    """The standard error of each parameter, if it was found between the rules of a grid."""
    parts: tuple[Rule, ...] = field(default=(), repr=False)
    """What it does, if it is more than one rule of a family with a grid."""

    @property
    def rule(self) -> Rule:
        """The rule itself, to apply to images."""
        return (
            self.parts[0] if len(self.parts) == 1 else Rule(FAMILIES[self.family], self.parameters)
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All that happens to an image, the first one first."""
        return self.parts or (self.rule,)

    def __str__(self) -> str:
        return f"{self.label} {self.probability:.0%}"


def logits_of_rules(
    model: FINE, function: Callable[[Tensor], Tensor], image: Tensor, warp: Warp
) -> Tensor:  # (rules,)
    """How near a function of embeddings comes to every rule of a warp.

    They are compared on one image (channels, size, size).
    """
    numbers = torch.arange(len(warp.grids), device=image.device)
    choices = warp(image.expand(len(numbers), -1, -1, -1), numbers)
    shown = torch.cat((image[None], choices))[None]
    embeddings = model.encode(shown, firsts=[0] * (1 + len(choices)))[0]
    return -model.distance(embeddings[1:], function(embeddings[:1]))


def ranked(rules: tuple[Rule, ...], probabilities: Tensor) -> tuple[NamedRule, ...]:
    """Rules with their probabilities, the most probable first."""
    values = check_finite(probabilities).tolist()
    ordered = ((rules[n], values[n]) for n in probabilities.argsort(descending=True).tolist())
    return tuple(
        NamedRule(rule.family.name, rule.parameters, str(rule), value) for rule, value in ordered
    )


def with_first(first: NamedRule | None, names: tuple[NamedRule, ...]) -> tuple[NamedRule, ...]:
    """The same names with one before all others, which share what it leaves of the probability."""
    if first is None:
        return names
    others = [name for name in names if name.label != first.label]
    total = sum(name.probability for name in others)
    share = (1 - first.probability) / total if total else 0.0
    return (first, *(replace(name, probability=share * name.probability) for name in others))


@functools.lru_cache(maxsize=8)
def distinct_rules(
    rules: RuleSet, size: int, device: torch.device | str = "cpu"
) -> tuple[Warp, tuple[Rule, ...]]:
    """The rules of a set without those that do the same as an earlier one.

    Rotation by 0° and scale × 1 do, for example.
    """
    warp = Warp(rules, size=size)
    effects = warp.grids.flatten(1)
    if warp.negatives is not None:
        effects = torch.cat((effects, warp.negatives.flatten(1).float()), dim=1)
    first: dict[bytes, Rule] = {}
    for effect, rule in zip(effects, rules.rules, strict=True):
        first.setdefault(effect.numpy().tobytes(), rule)
    distinct = tuple(first.values())
    return Warp(RuleSet(rules.name, distinct), size=size, device=device), distinct
