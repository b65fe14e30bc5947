"""What happens to a letter string: families of rules, and another order of the alphabet.

    rules = string_rules("reverse+caesar")     # families, `letters`, `places` or `all`; ":permuted"
    rules.apply(0, "abc")                      # "cba"

A group is a run of equal letters. The first and the last of a string are its first and last group,
so the rule that takes abc to abd takes mmnnpp to mmnnqq; in abc every group is one letter. After z
comes a.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from torch import Tensor

from fine.errors import FineError, unknown
from fine.images.letters import ALPHABET, PERMUTED
from fine.rules.families import Family, Rule, RuleSet, check_enough, find_families

Change = Callable[..., str]
"""(text, order of the alphabet, *parameters) -> the changed text."""


@dataclass(frozen=True)
class StringFamily(Family):
    """Rules of one kind, which change texts instead of images."""

    change: Change = str


@dataclass(frozen=True)
class StringRule(Rule):
    """One thing that can happen to a string, such as caesar +2."""

    def __str__(self) -> str:
        return super().__str__().strip()  # many families have one rule, without a label


@dataclass(frozen=True)
class StringRules(RuleSet):
    """Rules of strings to draw puzzles from."""

    order: str = ALPHABET
    """The order of the letters that successors and sorting follow."""

    def apply(self, number: int, text: str) -> str:
        """A text under the rule of this number."""
        return under(self.rules[number], text, order=self.order)


def under(rule: Rule, text: str, *, order: str = ALPHABET) -> str:
    """A text under a rule."""
    assert isinstance(rule.family, StringFamily)
    return rule.family.change(text, order, *rule.parameters)


STRING_FAMILIES: dict[str, StringFamily] = {}
"""Every family of strings by name."""

STRING_SETS = {
    "letters": ("successor", "predecessor", "caesar", "first", "last"),
    "places": ("reverse", "rotate", "swap-ends", "double", "delete"),
}
"""Sets of families: those that change letters in their places, and those that move letters."""


def _family(
    name: str, *, grid: Sequence[Sequence[float]] = ((),), label: Callable[..., str] = lambda: ""
) -> Callable[[Change], Change]:
    """Decorate a function (text, order, *parameters) -> text to use it as a family by name."""

    def register(change: Change) -> Change:
        parameters = tuple(tuple(map(float, entry)) for entry in grid)
        STRING_FAMILIES[name] = StringFamily(name, parameters, label, _no_points, change=change)
        return change

    return register


def _no_points(points: Tensor, *parameters: float) -> Tensor:
    raise FineError(
        "a rule of strings moves letters, not points of an image: give rules of images, such as "
        "affine"
    )


def string_rules(name: str) -> StringRules:
    """The rules called ``name``: families joined by ``+``, ``letters``, ``places`` or ``all``.

    ``:permuted`` behind the names takes another order of the alphabet.
    """
    names, _, split = name.partition(":")
    if split not in ("", "permuted"):
        raise unknown("split of string rules", split, ("permuted",))
    sets = {**STRING_SETS, "all": tuple(STRING_FAMILIES)}
    families = find_families(names, STRING_FAMILIES, sets, kind="rules of strings")
    rules = tuple(
        StringRule(family, parameters) for family in families for parameters in family.grid
    )
    check_enough(name, rules)
    return StringRules(name, rules, PERMUTED if split else ALPHABET)


def groups(text: str) -> list[str]:
    """The runs of equal letters: aabc -> aa, b, c."""
    return ["".join(run) for _, run in groupby(text)]


def shifted(text: str, order: str, steps: float) -> str:
    """Every letter moved by ``steps`` in the alphabet."""
    places = int(steps) % len(order)
    return text.translate(str.maketrans(order, order[places:] + order[:places]))


@_family("successor")
def successor(text: str, order: str) -> str:
    return shifted(text, order, 1)


@_family("predecessor")
def predecessor(text: str, order: str) -> str:
    return shifted(text, order, -1)


@_family("caesar", grid=[(-3,), (-2,), (2,), (3,)], label="{:+g}".format)
def caesar(text: str, order: str, steps: float) -> str:
    return shifted(text, order, steps)


@_family("first", grid=[(-1,), (1,)], label="{:+g}".format)
def first(text: str, order: str, steps: float) -> str:
    """The first group becomes its predecessor or successor."""
    head, *rest = groups(text)
    return shifted(head, order, steps) + "".join(rest)


@_family("last", grid=[(-1,), (1,)], label="{:+g}".format)
def last(text: str, order: str, steps: float) -> str:
    """The last group becomes its predecessor or successor."""
    *rest, tail = groups(text)
    return "".join(rest) + shifted(tail, order, steps)


@_family("reverse")
def reverse(text: str, order: str) -> str:
    return text[::-1]


@_family("rotate", grid=[(-1,), (1,)], label=lambda step: "left" if step < 0 else "right")
def rotate(text: str, order: str, step: float) -> str:
    """The letter at one end goes to the other."""
    return text[1:] + text[:1] if step < 0 else text[-1:] + text[:-1]


@_family("swap-ends")
def swap_ends(text: str, order: str) -> str:
    return text[-1] + text[1:-1] + text[0] if len(text) > 1 else text


@_family("double")
def double(text: str, order: str) -> str:
    """Every letter twice."""
    return "".join(letter * 2 for letter in text)


@_family("delete", grid=[(0,), (-1,)], label=lambda place: "last" if place else "first")
def delete(text: str, order: str, place: float) -> str:
    return text[:-1] if place else text[1:]


@_family("sort", grid=[(1,), (-1,)], label=lambda step: "down" if step < 0 else "up")
def sort(text: str, order: str, step: float) -> str:
    return "".join(sorted(text, key=order.index, reverse=step < 0))
