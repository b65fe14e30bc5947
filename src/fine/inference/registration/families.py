"""Single families: candidates for pairs that one family explains.

items = moving_families(beam, starts=())       # with parameters to move
proposals = choices(beam)                      # swaps, and negatives of a part
"""

from collections.abc import Sequence

import numpy as np

from fine.inference.registration import settings
from fine.inference.registration.bank import bank_starts
from fine.inference.registration.beam import POLISHED, Beam, Item
from fine.inference.registration.choice import Proposal
from fine.inference.registration.forms import FORMS
from fine.inference.registration.pairs import Pair
from fine.inference.registration.refinement import Candidate
from fine.inference.registration.starts import (
    GRIDS,
    KEPT,
    family_starts,
    from_matrix,
    from_rule,
    resizing_starts,
    swap_losses,
)
from fine.rules import Rule
from fine.rules.affine import NEGATIVE


def moving_families(beam: Beam, starts: Sequence[Rule]) -> list[Item]:
    """Families from their grids or from given rules, and any affine map near the best of them."""
    pairs, names = beam.plain.pairs, beam.families
    if starts:
        found = [one for rule in starts for one in from_rule(rule) if one.form.name in names]
    else:
        found = affine_starts(beam, pairs)
        found += family_starts(pairs, [name for name in ("wave", "fisheye") if name in names])
    items = beam.refined([(beam.plain, one) for one in found], 0, steps=5)
    items = beam.refined(beam.thin(items, kept=2), 0)
    return beam.thin(items + beam.freed(items), kept=2)


def affine_starts(beam: Beam, pairs: Sequence[Pair], kept: int = KEPT) -> list[Candidate]:
    """Where to begin with families of affine maps."""
    names = beam.families
    grids = [name for name in GRIDS if name in names and name in FORMS]
    found = family_starts(pairs, grids, kept=kept)
    found += resizing_starts(pairs, names)
    if "translation" in names:
        for one in bank_starts(pairs, "unmoved", kept=2):
            near = from_matrix(one.parameters.reshape(2, 3))
            found += [moved for moved in near if moved.form.name == "translation"]
    return found


def choices(beam: Beam) -> list[Proposal]:
    """Families without parameters to move: swaps, and negatives of a part."""
    found: list[Proposal] = []
    if "swap" in beam.families:
        swapped = sorted(swap_losses(beam.plain.pairs), key=lambda one: one[1])
        found += [Proposal((rule,), loss, 0.5) for rule, loss in swapped[:2]]
    if "black-white" in beam.families:
        side = min(beam.side, POLISHED)
        cut = settings.part_negative(beam.plain.pairs, side)
        if cut is not None:
            rule, loss = cut
            pixel = 32 / side
            error = np.zeros((len(rule.parameters), len(rule.parameters)))
            if rule.family is not NEGATIVE:
                error[1, 1] = (pixel / 2) ** 2
            found.append(Proposal((rule,), loss, 0.5 * (1 + len(rule.parameters)), error))
    return found
