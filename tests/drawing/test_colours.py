"""Laws of colours: families can be told apart, and similar rules have similar colours."""

import pytest

from fine import rules
from fine.drawing.colours import OTHER, family_colour, rule_colour
from fine.rules import FAMILIES, Rule


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def test_every_family_that_is_tested_has_a_colour_of_its_own():
    colours = [family_colour(name) for name in rules.tested_families()]
    assert len(set(colours)) == len(colours) and OTHER not in colours
    assert family_colour("mine") == OTHER


@pytest.mark.parametrize("name", ["translation", "rotation", "shear", "scale"])
def test_neighbours_are_more_alike_than_the_ends(name):
    family = FAMILIES[name]
    grid = sorted(family.grid)
    middle = grid[len(grid) // 2] if name == "rotation" else grid[-1]  # angles have a period

    def apart(one: tuple[float, ...], other: tuple[float, ...]) -> int:
        pair = zip(*(rgb(rule_colour(Rule(family, entry))) for entry in (one, other)), strict=True)
        return sum(abs(a - b) for a, b in pair)

    assert apart(grid[0], grid[1]) < apart(grid[0], middle)
