"""Mixes: any affine map, alone or with a negative, a bend or a swap.

    items = mixes(beam, before)       # `before` are the single families, none of which explains

What is cheap and likely is tried first, and the rest only if that does not explain the pairs.
"""

import numpy as np

from fine.inference.registration import settings
from fine.inference.registration.bank import bank_starts
from fine.inference.registration.beam import Beam, Item, loss_of
from fine.inference.registration.families import affine_starts
from fine.inference.registration.forms import AffineForm
from fine.inference.registration.refinement import Candidate
from fine.inference.registration.settings import Setting
from fine.inference.registration.starts import GRIDS, family_starts, form_of


def mixes(beam: Beam, before: list[Item]) -> list[Item]:
    """Candidates for pairs that no single family explains."""
    if "affine-map" not in beam.families and "any-mix" not in beam.families:
        return []
    found: list[Item] = []
    for more in (_similar, _negative, _stretched, _bent, _swapped):
        found += more(beam, found + before)
        if beam.settled(found):
            break
    return found


def _similar(beam: Beam, _before: list[Item]) -> list[Item]:
    return _from_bank(beam, beam.plain, "similar")


def _negative(beam: Beam, _before: list[Item]) -> list[Item]:
    if "black-white" not in beam.families:
        return []
    negative = settings.negative(beam.plain.pairs)
    starts = [(negative, one) for one in affine_starts(beam, negative.pairs, kept=2)]
    single = beam.thin(beam.refined(starts, 0), kept=1)
    return single + _from_bank(beam, negative, "similar")


def _stretched(beam: Beam, _before: list[Item]) -> list[Item]:
    return _from_bank(beam, beam.plain, "stretched")


def _from_bank(beam: Beam, setting: Setting, bank: str) -> list[Item]:
    """The affine maps that start from a bank."""
    starts = [(setting, one) for one in bank_starts(setting.pairs, bank)]
    items = beam.thin(beam.refined(starts, 0), kept=2)
    return beam.thin(items + beam.freed(items), kept=2)


def _bent(beam: Beam, before: list[Item]) -> list[Item]:
    """Waves and fisheyes with an affine map, which comes after them or before."""
    plain = [one for setting, one in before if setting is beam.plain]
    affine = [one for one in plain if isinstance(one.form, AffineForm)]
    maps = [
        one.form.matrices(one.parameters[None])[0]
        for one in sorted(affine, key=lambda one: one.loss)[:3]
        if isinstance(one.form, AffineForm)
    ]
    maps.append(np.eye(2, 3))
    found: list[Item] = []
    for name in ("wave", "fisheye"):
        if name not in beam.families:
            continue
        bends = [np.array(one) for one in GRIDS[name][:: 3 if name == "wave" else 5]]
        for order in (f"{name}+affine", f"affine+{name}"):
            starts = [
                (beam.plain, Candidate(form_of(order), np.concatenate((bend, one.flatten()))))
                for bend in bends
                for one in maps
            ]
            quick = beam.refined(starts, 0, steps=5)
            likely = sorted(quick, key=loss_of)[:4]
            found += beam.thin(beam.refined(likely, 0), kept=2)
    return found


def _swapped(beam: Beam, _before: list[Item]) -> list[Item]:
    """Swaps of quarters with an affine map, which comes after them or before."""
    if "swap" not in beam.families:
        return []
    tried = []
    for setting in settings.swaps(beam.plain.pairs):
        starts = family_starts(setting.pairs, ["square", "rotation", "scale"], kept=1)
        starts += bank_starts(setting.pairs, "unmoved", kept=1)
        tried += [(setting, one) for one in starts]
    best = sorted(tried, key=loss_of)[:8]
    items = [beam.refined([item], 0)[0] for item in best]
    return beam.thin(items + beam.freed(items), kept=2)
