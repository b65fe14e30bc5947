"""What happens to a picture: families of rules, their grids, the seen/unseen split, and one batched warp for all of them.

    rules = rule_set("rotation")               # a family, `affine`, `all`, several: "rotation+swap", a split: "shear:unseen"
    warp = Warp(rules, size=32)
    y = warp(x, torch.tensor([3]))             # x (1, channels, 32, 32) under the fourth rule, rotation 45°

A rule is written as the place each point of the *result* is read from. Points are (x, y), x to the right and y down, measured
from the centre of a picture that is 32 units wide at any resolution, so "translation by 3" is 3 pixels at 32 × 32.
A family of one's own takes a few lines; see docs/rules.md.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.errors import FineError, unknown

HALF = 16.0
"""Half the width of a picture in units of the rules."""

Source = Callable[..., Tensor]
"""(points (h, w, 2), *parameters) -> the points (h, w, 2) they are read from."""


@dataclass(frozen=True)
class Family:
    """Rules of one kind, one for each entry of ``grid``."""

    name: str
    grid: tuple[tuple[float, ...], ...]
    """The parameters of each rule."""
    label: Callable[..., str]
    """(*parameters) -> what tells a rule from its kin, for people: often the ``format`` of a text, "{:g}°".format."""
    source: Source
    negative: Callable[..., Tensor] | None = None
    """(points, *parameters) -> bool (h, w): where brightness v becomes 1 − v, if anywhere."""
    unseen: Callable[..., bool] | None = None
    """(*parameters) -> whether the rule belongs to the extreme tests, held back from training."""


@dataclass(frozen=True)
class Rule:
    """One thing that can happen to a picture, such as rotation by 45°."""

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
    """Rules to draw puzzles from: the family first, then a rule in it, so small families count as much as large ones."""

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


FAMILIES: dict[str, Family] = {}
"""Every family by name; `register_family` adds to it."""

STARTERS: dict[str, Family] = {}
"""Families that are not among `all`: for a model to get ready with, not to be tested on."""

NAMED_SETS = {"affine": ("translation", "rotation", "reflection", "shear", "scale")}


def register_family(
    name: str,
    *,
    grid: Sequence[Sequence[float]],
    label: Callable[..., str],
    negative: Callable[..., Tensor] | None = None,
    unseen: Callable[..., bool] | None = None,
    in_all: bool = True,
) -> Callable[[Source], Source]:
    """Decorate a function (points, *parameters) -> source points, and the family can be used by name everywhere."""
    if name in (*FAMILIES, *STARTERS, *NAMED_SETS, "all"):
        raise FineError(f"there is a rule family or set called '{name}' already: choose another name")
    if not name.replace("-", "").isidentifier():
        raise FineError(f"'{name}' cannot name a rule family: use letters, digits and hyphens")

    def register(source: Source) -> Source:
        parameters = tuple(tuple(float(value) for value in entry) for entry in grid)
        (FAMILIES if in_all else STARTERS)[name] = Family(name, parameters, label, source, negative, unseen)
        return source

    return register


def without_starters(rules: str) -> str:
    """The same rules, by name, without those that nothing is to be tested on; unless there are no others."""
    names, colon, split = rules.partition(":")
    tested = [name for name in names.split("+") if name not in STARTERS]
    return f"{'+'.join(tested)}{colon}{split}" if tested else rules


def rule_set(name: str) -> RuleSet:
    """The rules called ``name``: families joined by ``+``, ``affine`` or ``all``, optionally ``:seen`` or ``:unseen``."""
    names, _, split = name.partition(":")
    if split not in ("", "seen", "unseen"):
        raise unknown("split of rules", split, ("seen", "unseen"))
    families: list[Family] = []
    known = FAMILIES | STARTERS
    for part in names.split("+"):
        members = tuple(FAMILIES) if part == "all" else NAMED_SETS.get(part, (part,))
        for member in members:
            if member not in known:
                raise unknown("rules", part, (*known, *NAMED_SETS, "all"))
            if known[member] not in families:
                families.append(known[member])
    rules = tuple(Rule(family, parameters) for family in families for parameters in family.grid)
    if split:
        unsplit = [family.name for family in families if family.unseen is None]
        if unsplit:
            raise FineError(f"'{name}': {unsplit[0]} has no seen/unseen split; translation, rotation and shear have one")
        rules = tuple(rule for rule in rules if rule.unseen == (split == "unseen"))
    if len(rules) < 2:
        raise FineError(f"'{name}' has {len(rules)} rule: a puzzle needs a right and a wrong one, so at least 2")
    return RuleSet(name, rules)


def pixel_points(size: int) -> Tensor:
    """The centre of every pixel in units of the rules: (size, size, 2) as (x, y), in float64."""
    ticks = (torch.arange(size, dtype=torch.float64) + 0.5) * (2 * HALF / size) - HALF
    return torch.stack(torch.meshgrid(ticks, ticks, indexing="xy"), dim=-1)


def source_points(rule: Rule, size: int) -> Tensor:
    """Where each pixel of the result is read from under ``rule``: (size, size, 2)."""
    return rule.family.source(pixel_points(size), *rule.parameters)


def negative_mask(rule: Rule, size: int) -> Tensor:
    """The pixels of the result whose brightness the rule turns round: bool (size, size)."""
    if rule.family.negative is None:
        return torch.zeros(size, size, dtype=torch.bool)
    return rule.family.negative(pixel_points(size), *rule.parameters)


class Warp:
    """Applies rules of a set to a batch of pictures: bilinear sampling, zero outside, any mixture of rules at once."""

    def __init__(self, rules: RuleSet, *, size: int, device: torch.device | str = "cpu"):
        grids = torch.stack([source_points(rule, size) for rule in rules.rules]) / HALF
        negatives = torch.stack([negative_mask(rule, size) for rule in rules.rules])
        self.grids = grids.float().to(device)  # (r, h, w, 2)
        self.negatives = negatives[:, None].to(device) if negatives.any() else None  # (r, 1, h, w)

    def __call__(self, pictures: Tensor, rules: Tensor) -> Tensor:
        """Pictures (b, channels, h, w) in 0..1 and a rule number each (b,) -> the transformed pictures."""
        result = F.grid_sample(pictures, self.grids[rules], mode="bilinear", padding_mode="zeros", align_corners=False)
        return result if self.negatives is None else torch.where(self.negatives[rules], 1 - result, result)


# ---------------------------------------------------------------------------------------------------------------------------
# The nine families of the paper. Translation, rotation, reflection, shear, scale and swap have exactly the grids of its
# appendix; for fisheye, wave and black-white it gives formulas without ranges, and the ranges below are ours (docs/rules.md).


def _linear(points: Tensor, matrix: Sequence[Sequence[float]]) -> Tensor:
    """The points under a forward 2 × 2 matrix, read backwards through its inverse."""
    (a, b), (c, d) = matrix
    inverse = torch.tensor([[d, -b], [-c, a]], dtype=points.dtype) / (a * d - b * c)
    return (inverse * points[..., None, :]).sum(-1)


@register_family(
    "translation",
    grid=list(itertools.product((-9, -6, -3, 0, 3, 6, 9), repeat=2)),
    label="({:g}, {:g})".format,
    unseen=lambda right, down: abs(right) > 3 or abs(down) > 3,
)
def translation(points: Tensor, right: float, down: float) -> Tensor:
    return points - torch.tensor([right, down], dtype=points.dtype)


@register_family("rotation", grid=[(15 * k,) for k in range(24)], label="{:g}°".format, unseen=lambda degrees: degrees > 180)
def rotation(points: Tensor, degrees: float) -> Tensor:
    """Counter-clockwise as seen, so y (which points down) carries the minus."""
    quarter, rest = divmod(degrees, 90)  # whole quarter turns are kept exact: they permute pixels
    cos, sin = math.cos(math.radians(rest)), math.sin(math.radians(rest))
    for _ in range(int(quarter)):
        cos, sin = -sin, cos
    return _linear(points, [[cos, sin], [-sin, cos]])


@register_family("reflection", grid=[(1, 0), (0, 1)], label=lambda left_right, _: "left-right" if left_right else "top-bottom")
def reflection(points: Tensor, left_right: float, top_bottom: float) -> Tensor:
    return points * torch.tensor([1 - 2 * left_right, 1 - 2 * top_bottom], dtype=points.dtype)


@register_family(
    "shear",
    grid=list(itertools.product(range(-60, 61, 15), repeat=2)),
    label="({:g}°, {:g}°)".format,
    unseen=lambda across, down: abs(across) > 30 or abs(down) > 30,
)
def shear(points: Tensor, across: float, down: float) -> Tensor:
    """A horizontal shear, then a vertical one: each has determinant 1, so the two together can always be undone."""
    a, b = math.tan(math.radians(across)), math.tan(math.radians(down))
    return _linear(points, [[1, a], [b, 1 + a * b]])


@register_family("scale", grid=[(0.5,), (0.75,), (1.0,), (1.25,)], label="×{:g}".format)
def scale(points: Tensor, factor: float) -> Tensor:
    return points / factor


@register_family(
    "fisheye",
    grid=[(x, y, d) for d in (0.3, 0.8) for x, y in itertools.product((-0.5, 0, 0.5), repeat=2)],
    label="at ({:g}, {:g}), strength {:g}".format,
)
def fisheye(points: Tensor, centre_x: float, centre_y: float, distortion: float) -> Tensor:
    """T(p) = p + (p − c)·d·|p − c|, with lengths in half-widths of the picture."""
    offset = points / HALF - torch.tensor([centre_x, centre_y], dtype=points.dtype)
    return points + HALF * offset * distortion * offset.norm(dim=-1, keepdim=True)


@register_family(
    "wave",
    grid=[(a, k) for k in (1, 2, 3) for a in (-4, -2, 2, 4)],
    label="height {:g}, {:g} waves".format,
)
def wave(points: Tensor, amplitude: float, waves: float) -> Tensor:
    """T(x) = x, T(y) = y + a·cos(f·y), with f = 2π·waves a picture height."""
    x, y = points.unbind(-1)
    return torch.stack((x, y + amplitude * torch.cos(math.pi * waves / HALF * y)), dim=-1)


def _part_name(axis: float, cut: float, side: float) -> str:
    names = {(0, -1): "left of", (0, 1): "right of", (1, -1): "above", (1, 1): "below"}
    return f"{names[int(axis), int(side)]} {cut:g}"


def _negative_part(points: Tensor, axis: float, cut: float, side: float) -> Tensor:
    return (points[..., int(axis)] - cut) * side > 0


@register_family(
    "black-white",
    grid=[(axis, cut, side) for axis in (0, 1) for cut in (-8, -4, 0, 4, 8) for side in (-1, 1)],
    label=_part_name,
    negative=_negative_part,
)
def black_white(points: Tensor, axis: float, cut: float, side: float) -> Tensor:
    """Nothing moves; the picture is cut in two and one part turns into its negative."""
    return points


@register_family("swap", grid=list(itertools.permutations(range(4))), label="{:g}{:g}{:g}{:g}".format)
def swap(points: Tensor, *origins: float) -> Tensor:
    """Quarter q of the result (0 1 over 2 3) is read from quarter origins[q] of the picture."""
    x, y = points.unbind(-1)
    quarter = (x > 0).long() + 2 * (y > 0).long()
    origin = torch.tensor(origins, dtype=torch.long)[quarter]
    return torch.stack((x + HALF * (origin % 2 - quarter % 2), y + HALF * (origin // 2 - quarter // 2)), dim=-1)
