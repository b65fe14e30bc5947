"""Candidates on their way from coarse to fine, of which those far behind are given up.

    beam = Beam(pairs, families)
    items = beam.thin(beam.refined(items, 0), kept=2)      # at the coarsest side
    beam.settled(items, ())                                # nothing else needs to be tried

An item is a candidate and the setting that it is a candidate for.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from fine.inference.registration import refinement
from fine.inference.registration.choice import Proposal, residual_share
from fine.inference.registration.forms import BENT_FORMS, AffineForm, BentForm
from fine.inference.registration.pairs import Pair
from fine.inference.registration.refinement import Candidate
from fine.inference.registration.settings import Setting
from fine.inference.registration.starts import from_matrix
from fine.rules.rule_map import RuleMap

SIDES = (32, 64, 128, 256)
"""Longer sides that parameters are refined on; smaller images end at their own."""
THOROUGH_SIDE, POLISHED = 160, 512
"""The side at which candidates are refined thoroughly, and the chosen one at last."""
CLEAR, CLEAR_IF_SMALL = 0.015, 0.05
"""Residuals below which no mix is looked for; few pixels are never explained so well."""
SMALL = 48
"""Pixels of a side below which an image is small."""
HOPELESS = 0.6
"""The residual above which candidates at a coarse side are not looked at any closer."""
BEHIND = 3.0
"""A candidate whose loss is so many times that of the best one is given up."""
STEPS = 14

Item = tuple[Setting, Candidate]


def loss_of(item: Item) -> float:
    """How much of y an item does not explain."""
    return item[1].loss


def proposal_of(item: Item) -> Proposal:
    """An item as rules."""
    setting, one = item
    return Proposal.of(one, setting.before, setting.after)


class Beam:
    """The sides at which pairs are looked at, and what is done to candidates there."""

    def __init__(self, pairs: list[Pair], families: tuple[str, ...]):
        self.plain, self.families = Setting(pairs), families
        self.side = min(pair.side for pair in pairs)
        self.sides = [side for side in SIDES if side < 0.8 * self.side][:3]
        self.sides.append(max(8, min(self.side, SIDES[-1])))

    def refined(self, items: list[Item], number: int, steps: int = STEPS) -> list[Item]:
        """Items with better parameters, at the side of a number."""
        refine = functools.partial(refinement.refined, side=self.sides[number], steps=steps)
        return _of_each_setting(refine, items)

    def thin(self, items: list[Item], *, kept: int) -> list[Item]:
        """The best of each form and setting and ``kept`` more, without those far behind."""
        if not items:
            return []
        bound = BEHIND * (min(map(loss_of, items)) + 0.01)
        seen: dict[tuple[int, str], list[Candidate]] = {}
        result: list[Item] = []
        for setting, one in sorted(items, key=loss_of):
            group = seen.setdefault((id(setting), one.form.name), [])
            if one.loss <= bound and len(group) <= kept and not _is_same(one, group):
                group.append(one)
                result.append((setting, one))
        return result

    def settled(self, items: list[Item], others: Sequence[Proposal], number: int = 0) -> bool:
        """Whether the best candidate explains the pairs so well that nothing else is tried."""
        clear = CLEAR if self.side > SMALL else CLEAR_IF_SMALL
        return self._residual([*map(proposal_of, items), *others], number) < clear

    def _residual(self, proposals: Sequence[Proposal], number: int) -> float:
        best = min(proposals, key=lambda one: one.loss)
        return residual_share(RuleMap(best.rules), self.plain.pairs, side=self.sides[number])

    def freed(self, items: list[Item]) -> list[Item]:
        """The best candidates again, with more freedom: a rotation as any affine map."""
        found: list[Item] = []
        affine = [item for item in items if isinstance(item[1].form, AffineForm)]
        for setting, one in sorted(affine, key=loss_of)[:1]:
            assert isinstance(one.form, AffineForm)
            matrix = one.form.matrices(one.parameters[None])[0]
            for name in ("any-mix", "affine-map"):
                if name in self.families and one.form.name != name:
                    found += [
                        (setting, more) for more in from_matrix(matrix) if more.form.name == name
                    ]
        bent = [item for item in items if isinstance(item[1].form, BentForm)]
        for setting, one in sorted(bent, key=loss_of)[:1]:
            if "affine-map" in self.families and one.loss < 2 * min(map(loss_of, items)) + 0.02:
                parameters = np.concatenate((one.parameters, np.eye(2, 3).flatten()))
                for order in (f"{one.form.name}+affine", f"affine+{one.form.name}"):
                    found.append((setting, Candidate(BENT_FORMS[order], parameters)))
        return self.refined(found, 0)

    def finished(self, items: list[Item]) -> list[Item]:
        """The candidates at the finest side, one of each form and setting."""
        items = self.thin(items, kept=2)
        if not items:
            return []
        for number in range(1, len(self.sides)):
            items = self.thin(self.refined(items, number, steps=6), kept=2 if number < 2 else 1)
            if self._residual(list(map(proposal_of, items)), number) > HOPELESS:
                return items
        if len(self.sides) > 1:
            items = self._with_simpler(items)
        side = min(THOROUGH_SIDE, self.sides[-1])
        refine = functools.partial(refinement.thoroughly_refined, side=side)
        return _of_each_setting(refine, items)

    def _with_simpler(self, items: list[Item]) -> list[Item]:
        """Every simpler family near the best map, which a grid may have missed."""
        setting, best = min(items, key=loss_of)
        if isinstance(best.form, BentForm):
            if best.form.order == "alone" or best.form.bend.name not in self.families:
                return items
            bend = best.parameters[: len(best.form.bend.steps)]
            alone = [(setting, Candidate(BENT_FORMS[best.form.bend.name], bend))]
            return items + self.refined(self.refined(alone, 0), -1)
        matrix = best.form.matrices(best.parameters[None])[0]
        there = {one.form.name for other, one in items if other is setting}
        near = [
            (setting, one)
            for one in from_matrix(matrix)
            if one.form.name not in there
            and one.form.name in self.families
            and one.form.complexity < best.form.complexity
            and _is_near(one, matrix)
        ]
        return items + self.refined(near, -1, steps=6)

    def polished(self, item: Item) -> Item:
        """An item refined once more, where the images have more pixels."""
        if self.side <= THOROUGH_SIDE:
            return item
        side = min(POLISHED, self.side)
        refine = functools.partial(refinement.refined, side=side, steps=4)
        return _of_each_setting(refine, [item])[0]


def _of_each_setting(
    refine: Callable[[list[Candidate], Sequence[Pair]], list[Candidate]], items: list[Item]
) -> list[Item]:
    """Items whose candidates were refined, each on the pairs of its setting."""
    result = list(items)
    for setting in {id(setting): setting for setting, _ in items}.values():
        places = [place for place, item in enumerate(items) if item[0] is setting]
        better = refine([items[place][1] for place in places], setting.pairs)
        for place, one in zip(places, better, strict=True):
            result[place] = (setting, one)
    return result


def _is_same(one: Candidate, others: list[Candidate]) -> bool:
    """Whether another candidate has come to the same place."""
    steps = np.array(one.form.steps)
    return any(
        bool((np.abs(one.parameters - other.parameters) <= 100 * steps + 1e-9).all())
        for other in others
    )


def _is_near(one: Candidate, matrix: np.ndarray) -> bool:
    """Whether an affine candidate moves points about as a matrix does."""
    assert isinstance(one.form, AffineForm)
    return bool(np.abs(one.form.matrices(one.parameters[None])[0] - matrix).max() < 0.1)
