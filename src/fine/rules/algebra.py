"""Rules composed, inverted, repeated and mixed, and named again by the simplest family that fits.

    composed(turn, turn)                   # by 90° twice: rotation 180°
    inverse(RuleMap((rotation_30,)))       # rotation 330°
    power(turn, 0.5)                       # rotation 45°
    between(rotation_30, rotation_60, 0.5) # rotation 45°

None means that there is no formula: a wave cannot be inverted, and nothing lies half-way between an
image and its mirror image.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fine.rules.affine import (
    IDENTITY,
    NEGATIVE,
    Matrix,
    inverted,
    matrix_of,
    product,
    simplest_affine,
)
from fine.rules.families import FAMILIES, Rule
from fine.rules.rule_map import RuleMap

_BITS = 40  # of a fractional power
_SMALL = 1e-9


def composed(first: RuleMap, then: RuleMap) -> RuleMap:
    """``first``, and then ``then``, in as few rules as possible."""
    return simplified((*first.rules, *then.rules))


def simplified(rules: Sequence[Rule]) -> RuleMap:
    """The same in fewer rules: affine maps are merged, and negatives and swaps cancel."""
    moves = [rule for rule in rules if rule.family is not NEGATIVE]
    negative = (len(rules) - len(moves)) % 2 == 1  # it makes no difference when it is made
    merged: list[Rule] = []
    for rule in moves:
        together = _merged(merged[-1], rule) if merged else None
        if together is None:
            merged.append(rule)
        else:
            merged[-1:] = [together]
    kept = [rule for rule in merged if not _does_nothing(rule)]
    if len(kept) < len(merged) and len(kept) > 1:
        kept = [rule for rule in simplified(kept).rules if not _does_nothing(rule)]
    if negative:
        kept.append(Rule(NEGATIVE, ()))
    return RuleMap(tuple(kept) if kept else (simplest_affine(IDENTITY),))


def _merged(first: Rule, then: Rule) -> Rule | None:
    """Two rules as one, if a family has it."""
    before, after = matrix_of(first), matrix_of(then)
    if before is not None and after is not None:
        return simplest_affine(product(before, after))
    if first.family.name == then.family.name == "swap":
        origins = [first.parameters[int(quarter)] for quarter in then.parameters]
        return Rule(first.family, tuple(origins))
    return None


def _does_nothing(rule: Rule) -> bool:
    if rule.family.name == "swap":
        return rule.parameters == (0, 1, 2, 3)
    matrix = matrix_of(rule)
    return matrix is not None and bool(np.abs(matrix - IDENTITY).max() < _SMALL)


def inverse(rule: RuleMap) -> RuleMap | None:
    """What undoes rules; None if one of them has no inverse in a formula."""
    undone: list[Rule] = []
    for one in reversed(rule.rules):
        back = _inverse_of(one)
        if back is None:
            return None
        undone.append(back)
    return simplified(undone)


def _inverse_of(rule: Rule) -> Rule | None:
    if rule.family is NEGATIVE or rule.family.name == "black-white":
        return rule
    if rule.family.name == "swap":
        origins = [int(quarter) for quarter in rule.parameters]
        return Rule(rule.family, tuple(float(origins.index(quarter)) for quarter in range(4)))
    matrix = matrix_of(rule)
    return None if matrix is None else simplest_affine(inverted(matrix))


def power(rule: RuleMap, times: float) -> RuleMap | None:
    """Rules applied ``times`` times; None if there is no formula for that."""
    if times < 0:
        back = inverse(rule)
        return None if back is None else power(back, -times)
    simple = simplified(rule.rules)
    whole = times == int(times)
    if simple.matrix is not None and (whole or not simple.negative):
        made = _affine_power(simple, times)
        if made is None:
            return None
        odd = simple.negative and int(times) % 2 == 1
        return simplified((*made.rules, Rule(NEGATIVE, ()))) if odd else made
    if not whole:
        return None
    total = simplified(())
    for _ in range(int(times)):
        total = composed(total, simple)
    return total


def _affine_power(rule: RuleMap, times: float) -> RuleMap | None:
    first = rule.rules[0]
    if len(rule.rules) == 1 and first.family.name == "rotation":
        # 350° half as often is 175°, as it is called, though the shorter way round is −5°.
        return RuleMap((Rule(first.family, (first.parameters[0] * times % 360,)),))
    assert rule.matrix is not None
    made = _matrix_power(rule.matrix, times)
    return None if made is None else RuleMap((simplest_affine(made),))


def _matrix_power(matrix: Matrix, times: float) -> Matrix | None:
    """A map applied ``times`` times; None if that is not defined.

    A mirror image, or a rotation by 180°, has whole powers only.
    """
    square = np.vstack((matrix, [0, 0, 1]))
    whole, rest = divmod(times, 1)
    total = np.linalg.matrix_power(square, int(whole))
    if rest:
        values = np.linalg.eigvals(square[:2, :2])
        if any(abs(value.imag) < _SMALL and value.real <= _SMALL for value in values):
            return None
        for bit, root in zip(_bits(rest), _roots(square), strict=False):
            if bit:
                total = total @ root
    return np.asarray(total[:2])


def _bits(share: float) -> Iterator[bool]:
    """The binary digits of a number below 1."""
    for _ in range(_BITS):
        share *= 2
        yield share >= 1
        share -= math.floor(share)


def _roots(square: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """The square root of a matrix, and that of it, and so on: by Denman and Beavers' iteration."""
    while True:
        root, back = square, np.eye(3)
        for _ in range(60):
            other = (root + np.linalg.inv(back)) / 2
            back = (back + np.linalg.inv(root)) / 2
            if np.abs(other - root).max() < 1e-15:
                break
            root = other
        square = root
        yield root


def between(one: RuleMap, other: RuleMap, share: float) -> RuleMap | None:
    """A rule between two, ``share`` of the way from one to the other; None if there is no way."""
    first, second = simplified(one.rules), simplified(other.rules)
    if first.negative != second.negative:
        return None
    if first.matrix is not None and second.matrix is not None:
        # From the one, so much of what leads on to the other: angles and factors go evenly.
        way = _matrix_power(product(inverted(first.matrix), second.matrix), share % 1)
        if way is None:
            return None
        whole = np.vstack((product(inverted(first.matrix), second.matrix), [0, 0, 1]))
        steps = np.linalg.matrix_power(whole, math.floor(share))[:2]
        made = simplest_affine(product(first.matrix, product(steps, way)))
        return simplified((made, *([Rule(NEGATIVE, ())] if first.negative else [])))
    if len(first.rules) == len(second.rules) == 1:
        begin, end = first.rules[0], second.rules[0]
        if begin.family is end.family and begin.family.name in ("wave", "fisheye"):
            pairs = zip(begin.parameters, end.parameters, strict=True)
            values = tuple(start + share * (stop - start) for start, stop in pairs)
            return RuleMap((Rule(FAMILIES[begin.family.name], values),))
    return None
