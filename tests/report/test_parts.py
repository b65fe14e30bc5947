"""The small parts of the page: signs, escaping, letters and axes."""

import itertools
import math

import pytest

from fine.report.costs import letter_places
from fine.report.markup import element
from fine.report.numbers import signed
from fine.report.panels import round_steps, spread_out


@pytest.mark.parametrize(
    ("value", "text"), [(3.04, "+3.0"), (-3.06, "−3.1"), (0.04, "0.0"), (-0.04, "0.0")]
)
def test_a_difference_has_its_sign(value, text):
    assert signed(value) == text


def test_attributes_and_texts_are_escaped():
    assert element("p", '<&"', title='"<') == '<p title="&#34;&lt;">&lt;&amp;&#34;</p>'
    link = element("a", element("b", "x"), aria_label="y", none=None, x=1.0, y=2.346)
    assert link == '<a aria-label="y" x="1" y="2.35"><b>x</b></a>'


def test_letters_keep_apart():
    heights = spread_out([50.0, 50.0, 10.0, 119.0, 118.0], gap=8, low=8, high=120)
    ordered = sorted(heights)
    gaps = [after - before for before, after in itertools.pairwise(ordered)]
    assert min(gaps) >= 8 - 1e-9
    assert heights[2] == 10 and ordered[0] >= 8 and ordered[-1] <= 120
    places = letter_places([(50.0, 50.0), (52.0, 50.0), (150.0, 20.0)])
    assert places[2] == (157.0, 23.0) and math.dist(places[0], places[1]) > 6


@pytest.mark.parametrize(
    ("low", "high", "steps"),
    [(1.5, 18.0, [1, 2, 5, 10, 20]), (2.0, 2.0, [2, 5]), (0.3, 0.4, [0.2, 0.5])],
)
def test_round_steps_hold_what_is_between(low, high, steps):
    assert round_steps(low, high) == pytest.approx(steps)


@pytest.mark.parametrize("minutes", [1e-9, 0.001, 3, 4.9e8, 5e8, 1e200])
def test_an_axis_has_two_ends_whatever_a_record_claims(minutes):
    # A record may come from anyone, and claim a thousand years of training.
    steps = round_steps(minutes, minutes)
    assert len(steps) >= 2 and steps == sorted(set(steps))
