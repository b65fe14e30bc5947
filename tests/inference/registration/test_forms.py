"""Formulas of many candidates at once are those of the families."""

import numpy as np
import pytest
import torch

from fine.geometry.warp import HALF
from fine.inference.registration.forms import BENT_FORMS, FORMS, reported, rules_of
from fine.inference.registration.starts import GRIDS
from fine.rules.affine import matrix_of
from fine.rules.rule_map import RuleMap

PARAMETERS = {
    "square": (0.0, 1.0, 1.0, 0.0),
    "translation": (3.3, -2.0),
    "rotation": (37.2,),
    "scale": (0.7,),
    "stretch": (1.4, 0.8),
    "shear": (20.0, -35.0),
    "any-mix": (1.0, 110.0, 1.3, 2.0, -4.0),
    "affine-map": (0.9, 0.2, 0.1, -0.3, 1.1, -0.2),
}


@pytest.mark.parametrize("name", FORMS)
def test_matrices_are_those_of_the_rules(name):
    parameters = np.array(PARAMETERS[name])
    (rule,) = rules_of(FORMS[name], parameters)
    assert FORMS[name].matrices(parameters[None])[0] == pytest.approx(matrix_of(rule), abs=1e-9)


@pytest.mark.parametrize("name", BENT_FORMS)
def test_bent_points_are_those_of_the_rules(name):
    form = BENT_FORMS[name]
    bend = np.array([2.5, 1.7] if form.bend.name == "wave" else [0.2, -0.3, 0.6])
    parameters = bend if form.order == "alone" else np.concatenate((bend, PARAMETERS["affine-map"]))
    points = torch.rand(30, 2) * 2 - 1
    got = form.sources(points, parameters[None])[0]
    wanted = RuleMap(rules_of(form, parameters)).sources(points.double().numpy())
    assert got.numpy() == pytest.approx(wanted, abs=1e-5)


def test_errors_are_told_in_the_order_of_the_rules_parameters():
    form = BENT_FORMS["affine+wave"]
    parameters = np.array([2.5, 1.7, *PARAMETERS["affine-map"]])
    rules = rules_of(form, parameters)
    values = np.concatenate([rule.parameters for rule in rules])
    change = np.zeros(8)
    change[0] = 0.25  # of the wave, whose rule comes last
    moved = np.concatenate([rule.parameters for rule in rules_of(form, parameters + change)])
    assert reported(form, parameters) @ change == pytest.approx(moved - values, abs=1e-6)


def test_every_grid_has_a_form_with_as_many_parameters():
    for name, grid in GRIDS.items():
        form = FORMS.get(name) or BENT_FORMS[name]
        assert {len(entry) for entry in grid} == {len(form.steps)}
    assert HALF == 16  # frame units times this are units of rules


@pytest.mark.parametrize("name", BENT_FORMS)
def test_slopes_by_parameters_are_those_of_the_points_read(name):
    form = BENT_FORMS[name]
    bend = np.array([2.5, 1.7] if form.bend.name == "wave" else [0.2, -0.3, 0.6])
    parameters = bend if form.order == "alone" else np.concatenate((bend, PARAMETERS["affine-map"]))
    points, slopes = torch.rand(30, 2) * 2 - 1, torch.randn(1, 2, 30)
    got = form.pulled(points, parameters[None], slopes)[0]
    for place, step in enumerate(form.steps):
        change = np.zeros(len(parameters))
        change[place] = step
        ahead, behind = (form.sources(points, (parameters + d)[None]) for d in (change, -change))
        moves = (ahead - behind)[0].T / (2 * step)
        assert got[place].numpy() == pytest.approx((moves * slopes[0]).sum(0).numpy(), abs=2e-3)
