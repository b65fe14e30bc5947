"""Bends stay within their bounds, and the search for one begins at every affine map."""

import numpy as np
import pytest

from fine.inference.registration.bends import BENDS
from fine.inference.registration.bent_starts import KEPT, bent_starts
from fine.inference.registration.forms import BENT_FORMS
from fine.inference.registration.pairs import Pair
from fine.inference.registration.refinement import Candidate, refined
from fine.inference.registration.starts import GRIDS
from support.examples import photograph, tensor


@pytest.fixture(scope="module")
def pair() -> Pair:
    """Two photographs that have nothing in common, so a step may lead anywhere."""
    return Pair(tensor(photograph(48, 48, seed=1)), tensor(photograph(48, 48, seed=2)))


@pytest.mark.parametrize("name", BENDS)
def test_every_start_of_a_bend_is_within_its_bounds(name):
    assert BENDS[name].allows(np.array(GRIDS[name])).all()


@pytest.mark.parametrize("form", [form for form in BENT_FORMS.values() if form.order != "alone"])
def test_no_step_leads_out_of_the_bounds_of_a_bend(form, pair):
    starts = bent_starts([pair], form, [np.eye(2, 3)])
    edge = np.concatenate((0.99 * np.array(form.bend.most), np.eye(2, 3).flatten()))
    ends = refined([*starts, Candidate(form, edge)], [pair], side=32, steps=20)
    count = len(form.bend.steps)
    parameters = np.stack([one.parameters[:count] for one in ends])
    assert form.bend.allows(parameters).all()
    assert (parameters[-1] != edge[:count]).any()  # it did move


def test_every_affine_map_has_bends_to_start_from(pair):
    maps = [
        np.eye(2, 3),
        np.array([[0.0, -1, 0], [1, 0, 0]]),
        np.array([[-2.0, 0, 0.3], [0, 2, 0]]),
    ]
    form = BENT_FORMS["affine+wave"]
    found = [one.parameters for one in bent_starts([pair], form, maps)]
    alone = [one.parameters for each in maps for one in bent_starts([pair], form, [each])]
    assert len(found) == KEPT * len(maps) and np.array_equal(found, alone)
