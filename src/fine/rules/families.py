"""Families of rules by name, their grids, and the split into seen and unseen rules.

    rules = rule_set("rotation")         # a family, `affine`, `all`, several: "rotation+swap"
    rules = rule_set("shear:unseen")     # the rules that the extreme tests hold back from training

A rule is written as the point that each point of the *result* is read from (see fine.geometry.warp
for the units). A family of your own takes a few lines; docs/rules.md shows one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from torch import Tensor

from fine.errors import FineError, unknown
from fine.plugins import find_plugin, plugin_names

Source = Callable[..., Tensor]
"""(points (h, w, 2), *parameters) -> the points (h, w, 2) they are read from."""


@dataclass(frozen=True)
class Family:
    """Rules of one kind, one for each entry of ``grid``."""

    name: str
    grid: tuple[tuple[float, ...], ...]
    """The parameters of each rule."""
    label: Callable[..., str]
    """(*parameters) -> what people call the rule within its family, such as 45°."""
    source: Source
    negative: Callable[..., Tensor] | None = None
    """(points, *parameters) -> bool (h, w): where brightness v becomes 1 − v, if anywhere."""
    unseen: Callable[..., bool] | None = None
    """(*parameters) -> whether the extreme tests hold the rule back from training."""
    pretraining_only: bool = False
    """Whether models only pretrain on the family: it is left out of `all` and of tests."""
    in_all: bool = True
    """Whether `all` has the family, unless it is for pretraining only."""


@dataclass(frozen=True)
class Rule:
    """One thing that can happen to an image, such as rotation by 45°."""

    family: Family
    parameters: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.family.name} {self.family.label(*self.parameters)}"

    @property
    def unseen(self) -> bool:
        """Whether the extreme tests hold this rule back from training."""
        return self.family.unseen is not None and self.family.unseen(*self.parameters)


@dataclass(frozen=True)
class RuleSet:
    """Rules to draw puzzles from."""

    name: str
    rules: tuple[Rule, ...]

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def families(self) -> dict[str, list[int]]:
        """Family name -> the numbers of its rules in this set."""
        members: dict[str, list[int]] = {}
        for number, rule in enumerate(self.rules):
            members.setdefault(rule.family.name, []).append(number)
        return members


AnyFamily = TypeVar("AnyFamily", bound=Family)

FAMILIES: dict[str, Family] = {}
"""Every family by name; `register_family` adds to it, and `rule_set` those of plug-ins."""

PLUGINS = "fine.rules"
"""The group of entry points by which other packages announce a `Family`."""

NAMED_SETS: dict[str, tuple[str, ...]] = {
    "affine": ("translation", "rotation", "reflection", "shear", "scale")
}
"""Sets of families that have a name of their own."""


def register_family(
    name: str,
    *,
    grid: Sequence[Sequence[float]],
    label: Callable[..., str],
    negative: Callable[..., Tensor] | None = None,
    unseen: Callable[..., bool] | None = None,
    pretraining_only: bool = False,
    in_all: bool = True,
) -> Callable[[Source], Source]:
    """Decorate a function (points, *parameters) -> source points to use it as a family by name.

    The function says where each point (x, y) of the result is read from. Points are measured from
    the middle of the image, in 1/32 of its width.

    Args:
        name: What the family is called; letters, digits and hyphens.
        grid: The parameters of each rule of the family.
        label: Parameters -> the rule in words, such as "45°".
        negative: (points, *parameters) -> whether the brightness is inverted there.
        unseen: Parameters -> whether the rule is held back by ``:seen``; None: there is no split.
        pretraining_only: Leave the family out of ``all``, and test nothing on it.
        in_all: Whether ``all`` has the family.

    Examples:
        >>> import fine, torch
        >>> @fine.register_family("squeeze", grid=[(0.5,), (0.8,)], label="×{:g}".format)
        ... def squeeze(points, factor):
        ...     return points * torch.tensor([factor, 1.0], dtype=points.dtype)
        >>> [str(rule) for rule in fine.rule_set("squeeze").rules]
        ['squeeze ×0.5', 'squeeze ×0.8']
    """
    if name in (*FAMILIES, *NAMED_SETS, "all"):
        raise FineError(
            f"there is a rule family or set called '{name}' already: choose another name"
        )
    if not name.replace("-", "").isidentifier():
        raise FineError(f"'{name}' cannot name a rule family: use letters, digits and hyphens")
    parameters = tuple(tuple(float(value) for value in entry) for entry in grid)

    def register(source: Source) -> Source:
        FAMILIES[name] = Family(
            name, parameters, label, source, negative, unseen, pretraining_only, in_all
        )
        return source

    return register


def tested_families() -> dict[str, Family]:
    """The families of `all`."""
    return {
        name: family
        for name, family in FAMILIES.items()
        if family.in_all and not family.pretraining_only
    }


def tested_rules(rules: str) -> str:
    """``rules`` by name, without the families for pretraining only, unless no other is left."""
    names, colon, split = rules.partition(":")
    tested = [name for name in names.split("+") if not _is_pretraining_only(name)]
    return f"{'+'.join(tested)}{colon}{split}" if tested else rules


def _is_pretraining_only(name: str) -> bool:
    add_plugin(name)
    return name in FAMILIES and FAMILIES[name].pretraining_only


def add_plugin(name: str) -> None:
    """Make a family of another package known, if it is not known already.

    It is left out of `all`: which rules that has must not depend on what is installed.
    """
    if name in (*FAMILIES, *NAMED_SETS, "all"):
        return
    plugin = find_plugin(PLUGINS, name)
    if plugin is None:
        return
    family = plugin.load()
    if not isinstance(family, Family) or family.name != name:
        raise plugin.refuse(f"expected a fine.rules.Family called '{name}'")
    FAMILIES[name] = replace(family, in_all=False)


def rule_set(name: str) -> RuleSet:
    """The rules called ``name``: families joined by ``+``, ``affine`` or ``all``, and a split.

    A split is ``:seen`` or ``:unseen``, behind the names.

    Args:
        name: Such as ``rotation``, ``rotation+swap``, ``all`` or ``shear:unseen``.

    Examples:
        >>> import fine
        >>> len(fine.rule_set("rotation")), len(fine.rule_set("rotation:unseen"))
        (24, 11)
        >>> str(fine.rule_set("rotation+swap").rules[3])
        'rotation 45°'
    """
    names, _, split = name.partition(":")
    if split not in ("", "seen", "unseen"):
        raise unknown("split of rules", split, ("seen", "unseen"))
    sets = {**NAMED_SETS, "all": tuple(tested_families())}
    for part in names.split("+"):
        add_plugin(part)
        if part not in (*FAMILIES, *sets):
            raise unknown("rules", part, (*FAMILIES, *sets, *plugin_names(PLUGINS)))
    families = find_families(names, FAMILIES, sets, kind="rules")
    rules = tuple(Rule(family, parameters) for family in families for parameters in family.grid)
    if split:
        _check_splits(name, families)
        rules = tuple(rule for rule in rules if rule.unseen == (split == "unseen"))
    check_enough(name, rules)
    return RuleSet(name, rules)


def find_families(
    names: str, registry: Mapping[str, AnyFamily], sets: Mapping[str, Sequence[str]], *, kind: str
) -> list[AnyFamily]:
    """The families called ``names``, families or sets of them joined by ``+``, none of them twice.

    ``kind`` is what the error for an unknown name calls it.
    """
    found: list[AnyFamily] = []
    for name in names.split("+"):
        for member in sets.get(name, (name,)):
            if member not in registry:
                raise unknown(kind, name, (*registry, *sets))
            if registry[member] not in found:
                found.append(registry[member])
    return found


def check_enough(name: str, rules: Sequence[Rule]) -> None:
    """Refuse a set of rules that is too small for puzzles."""
    if len(rules) < 2:
        count = "1 rule" if rules else "no rules"
        raise FineError(
            f"'{name}' has {count}: a puzzle needs a right and a wrong one, so at least 2"
        )


def _check_splits(name: str, families: Sequence[Family]) -> None:
    for family in families:
        if family.unseen is None:
            split = ", ".join(other.name for other in FAMILIES.values() if other.unseen)
            raise FineError(
                f"'{name}': {family.name} has no seen/unseen split; choose among {split}"
            )
