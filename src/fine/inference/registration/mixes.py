"""Mixes: any affine map, alone or with a negative, a bend or a swap.

    for more in MIXES:
        items += more(beam, items)       # `items` begin with the single families

What is cheap and likely comes first.
"""

import numpy as np

from fine.inference.registration import settings
from fine.inference.registration.bank import bank_starts
from fine.inference.registration.beam import Beam, Item, loss_of
from fine.inference.registration.bent_starts import bent_starts
from fine.inference.registration.families import affine_starts
from fine.inference.registration.forms import BENT_FORMS, AffineForm
from fine.inference.registration.settings import Setting
from fine.inference.registration.starts import family_starts


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
    maps += [np.eye(2, 3)]
    maps += [one.parameters.reshape(2, 3) for one in bank_starts(beam.plain.pairs, "similar")]
    found: list[Item] = []
    for name in ("wave", "fisheye"):
        if name not in beam.families:
            continue
        for form in (BENT_FORMS[f"{name}+affine"], BENT_FORMS[f"affine+{name}"]):
            starts = [(beam.plain, one) for one in bent_starts(beam.plain.pairs, form, maps)]
            quick = beam.refined(starts, 0, steps=5)
            likely = beam.thin(quick, kept=6)
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


MIXES = (_similar, _negative, _stretched, _bent, _swapped)
"""What is tried, one after another, if no single family explains the pairs."""
