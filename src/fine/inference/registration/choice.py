"""Which rule explains pairs: the simplest of those that explain them equally well.

    found = choose(proposals, pairs)
    found.rule, found.errors, found.residual, found.explains, found.ambiguous

A rule with more parameters always explains a little more, so it is taken only if it explains
clearly more. If rules that do clearly different things explain the pairs as well, or if the pairs
leave a parameter open, the pairs cannot tell, and `ambiguous` says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from fine.geometry.frame import frame_points
from fine.inference.registration.comparison import sampled
from fine.inference.registration.forms import reported, rules_of
from fine.inference.registration.pairs import Pair
from fine.inference.registration.refinement import Candidate
from fine.inference.registration.wording import in_words
from fine.rules import FAMILIES, Rule
from fine.rules.rule_map import RuleMap

EXPLAINED = 0.10
"""The largest residual of a pair that counts as explained."""
USELESS = 0.90
"""A rule that leaves more than this residual is not worth naming."""
AS_GOOD, NOISE = 0.15, 0.0005
"""A simpler rule is taken if its loss is higher by at most this part for each parameter that it has
less, and NOISE."""
BENT_MIX, BENT_LEFT = 8, 0.025
"""The least complexity of a bend with an affine map, which can look like many things; if it leaves
more than this residual, it may be another."""
EQUALLY_GOOD, HARDLY_MORE = 1.4, 0.003
"""Losses within this factor and this much do not tell two rules apart."""
ALMOST_ALL = 0.005
"""A rule far apart that leaves less than this explains a pair as well as any other."""
APART, FAR_APART = 0.03, 0.2
"""Rules do different things if points move that far apart, in frame units: a bit, and clearly."""
OTHERS = 4
"""Other rules that are told of."""
FINEST = 4e-4
"""Points are never known better than this, in frame units: a fiftieth of a per cent."""
UNSURE = 0.03
"""Points whose place is this uncertain, in frame units, make a rule ambiguous."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rules that explain pairs more or less."""

    rules: tuple[Rule, ...]
    loss: float
    complexity: float
    covariance: NDArray[np.float64] | None = None
    """That of all parameters of the rules, one rule after another."""
    candidate: Candidate | None = None
    """Where the rules come from."""

    @staticmethod
    def of(one: Candidate, before: tuple[Rule, ...], after: tuple[Rule, ...]) -> "Proposal":
        """A refined candidate between rules without parameters to move."""
        rules = (*before, *rules_of(one.form, one.parameters), *after)
        complexity = one.form.complexity + (len(before) + len(after))
        if one.covariance is None:
            return Proposal(rules, one.loss, complexity, candidate=one)
        slopes = reported(one.form, one.parameters)
        covariance = slopes @ one.covariance @ slopes.T
        if one.form.name == "square":
            covariance = np.zeros((0, 0))
        lead = sum(len(rule.parameters) for rule in before)
        tail = sum(len(rule.parameters) for rule in after)
        covariance = np.pad(covariance, ((lead, tail), (lead, tail)))
        return Proposal(rules, one.loss, complexity, covariance, one)


def _wander(one: Candidate | None) -> float:
    """How uncertain the places of points are over a frame: root mean square, in frame units."""
    if one is None or one.covariance is None:
        return 0.0
    points = torch.tensor(frame_points(5, 5, unit=2.5).reshape(-1, 2)).float()
    moves = []
    for place, step in enumerate(one.form.steps):
        change = np.zeros(len(one.parameters))
        change[place] = step
        ahead, behind = (
            replace(one, parameters=one.parameters + sign * change).sources(points).double().numpy()
            for sign in (1, -1)
        )
        moves.append((ahead - behind) / (2 * step) if step else np.zeros(ahead.shape))
    jacobian = np.stack(moves, axis=-1)  # (n, 2, p)
    variance = np.einsum("nap,pq,naq->n", jacobian, one.covariance, jacobian)
    return float(np.sqrt(max(variance.mean(), 0.0)))


@dataclass(frozen=True)
class Registered:
    """A rule with the parameters that explain example pairs best, and how far it can be trusted.

    `register` finds it.

    Examples:
        >>> import fine
        >>> x = fine.load_images("glyphs").pixels[160].float() / 255
        >>> found = fine.register([x], [x.flip(-1)])
        >>> str(found), found.explains, found.ambiguous
        ('mirrored left-right', True, False)
    """

    rule: RuleMap
    """One rule, or several one after another: `rule.rules`."""
    errors: tuple[tuple[float, ...], ...]
    """The standard error of each parameter of each rule."""
    residual: float
    """Mean squared difference between y and x under the rule, in variances of y; 1 is useless."""
    ambiguous: bool = False
    """Whether the pairs leave open what the rule is."""
    reason: str = ""
    """Why it is ambiguous, in words."""
    others: tuple["Registered", ...] = field(default=(), repr=False)
    """Other rules, the one with the least residual first."""

    @property
    def explains(self) -> bool:
        """Whether the rule explains the pairs: at most a tenth of y is left."""
        return self.residual <= EXPLAINED

    @property
    def sure(self) -> bool:
        """Whether the rule explains the pairs and no other does."""
        return self.explains and not self.ambiguous

    @property
    def shortfall(self) -> str:
        """What an example that no rule explains is refused with."""
        name = "" if self.residual > USELESS else f", {self},"
        return f"the nearest{name} leaves a residual of {self.residual:.0%}"

    def __str__(self) -> str:
        return in_words(self.rule.rules, self.errors)

    def polished(self, better: Proposal) -> "Registered":
        """The same with parameters that were refined once more."""
        return replace(self, rule=RuleMap(better.rules), errors=_errors(better))


def choose(proposals: Sequence[Proposal], pairs: Sequence[Pair]) -> Registered:
    """The simplest rule of those that explain pairs about as well as the best."""
    best = _simplest(proposals)
    others = [one for one in proposals if one.complexity <= best.complexity + 1]
    rivals = [one for one in others if one is not best and _is_rival(best, one, pairs)]
    chosen = _registered(best, pairs)
    reason = ""
    if rivals:
        words = in_words(rivals[0].rules, ())
        reason = f"{words} explains it as well"
    elif _wander(best.candidate) > UNSURE:
        reason = "its parameters can hardly be told from these images"
    elif best.complexity >= BENT_MIX and chosen.residual > BENT_LEFT:
        reason = "another bend may explain it better"
    order = sorted((one for one in proposals if one is not best), key=lambda one: one.loss)
    told = [_registered(one, pairs) for one in order[:OTHERS] if one.loss < math.inf]
    return replace(chosen, ambiguous=bool(reason), reason=reason, others=tuple(told))


def _simplest(proposals: Sequence[Proposal]) -> Proposal:
    """The simplest rule that explains about as much as each of the less simple ones."""
    by_simplicity = sorted(proposals, key=lambda one: (one.complexity, one.loss))
    for one in by_simplicity:
        if all(_is_as_good(one, other) for other in proposals):
            return one
    return min(proposals, key=lambda one: one.loss)


def _is_as_good(one: Proposal, other: Proposal) -> bool:
    """Whether a rule explains about as much as another, for its simplicity."""
    fewer = max(0.0, other.complexity - one.complexity)
    # A bend makes parts of an image smaller, which no two programs do alike.
    noise = NOISE * (fewer if other.complexity >= BENT_MIX else fewer > 0)
    return one.loss <= (1 + AS_GOOD * fewer) * other.loss + noise


def _is_rival(best: Proposal, one: Proposal, pairs: Sequence[Pair]) -> bool:
    """Whether another rule does something else, and explains pairs as well as the best."""
    distance = _distance(best, one)
    if distance > APART and one.loss <= EQUALLY_GOOD * best.loss + HARDLY_MORE:
        return True
    if distance < FAR_APART or one.loss > 0.2:
        return False
    return residual_share(RuleMap(one.rules), pairs) < ALMOST_ALL


def nothing_to_see(pairs: Sequence[Pair]) -> Registered:
    """What can be said of a pair with a blank image: nothing."""
    same = all(
        pair.x.shape == pair.y.shape and bool((pair.x - pair.y).abs().mean() < 0.02)
        for pair in pairs
    )
    unchanged = RuleMap((Rule(FAMILIES["square"], (1.0, 0.0, 0.0, 1.0)),))
    left = 0.0 if same else 1.0
    return Registered(unchanged, ((0.0,) * 4,), left, True, "an image shows nothing but one colour")


def _registered(one: Proposal, pairs: Sequence[Pair]) -> Registered:
    rule = RuleMap(one.rules)
    return Registered(rule, _errors(one), residual_share(rule, pairs))


def _errors(one: Proposal) -> tuple[tuple[float, ...], ...]:
    counts = [len(rule.parameters) for rule in one.rules]
    if one.covariance is None or len(one.covariance) != sum(counts):
        return tuple((0.0,) * count for count in counts)
    # However small its noise, no pair tells places better than to a part of a pixel.
    wider = max(1.0, FINEST / max(_wander(one.candidate), 1e-9)) if one.candidate else 1.0
    every = (wider * np.sqrt(np.maximum(np.diagonal(one.covariance), 0))).tolist()
    ends = np.cumsum(counts).tolist()
    return tuple(tuple(every[end - count : end]) for count, end in zip(counts, ends, strict=True))


def _distance(one: Proposal, other: Proposal) -> float:
    """How far apart two rules read points, in frame units, or infinity if in other colours."""
    first, second = RuleMap(one.rules), RuleMap(other.rules)
    points = frame_points(9, 9, unit=4.5)
    if bool((first.negative_at(points) != second.negative_at(points)).mean() > 0.05):
        return math.inf
    apart = np.linalg.norm(first.sources(points) - second.sources(points), axis=-1)
    near = np.abs(first.sources(points)).max(-1) <= 1
    return float(np.median(apart[near])) if near.any() else 0.0


def residual_share(rule: RuleMap, pairs: Sequence[Pair], side: int = 128) -> float:
    """What a rule leaves of y, in all colours: squared differences in variances of y."""
    return sum(_share_of(rule, pair, side) for pair in pairs) / len(pairs)


def _share_of(rule: RuleMap, pair: Pair, side: int) -> float:
    octaves = 0.0
    if rule.matrix is not None:
        area = abs(float(np.linalg.det(rule.matrix[:, :2])))
        octaves = round(-math.log2(max(area, 1e-6))) / 2
    side = min(side, pair.side)
    left, whole = 0.0, 0.0
    for channel in range(pair.x.shape[0]):
        level = pair.channel(channel).level(side, octaves)
        points = level.points.double().numpy()
        sources = torch.from_numpy(rule.sources(points)).float()
        read = sampled(level.x[:, :1], (sources / level.reach)[None])[0, 0]
        made = torch.where(torch.from_numpy(rule.negative_at(points)), 1 - read, read)
        if rule.negative:
            made = 1 - read
        depth = (level.reach - sources.abs()).amin(-1)
        inside, beyond = depth > level.margin, depth < -level.margin
        left += float((made - level.y).square()[inside].sum())
        if bool(beyond.any()):
            left += float((level.y[beyond] - level.y[beyond].median()).square().sum())
        counted = inside | beyond
        if bool(counted.any()):
            values = level.y[counted]
            whole += float((values - values.mean()).square().sum())
    return min(left / max(whole, 1e-6), 1.0)
