"""What a puzzle is: six integers, four kinds of choices, and what a rendered batch of them holds.

A puzzle shows x → y = f(x), then x' and four choices in random order: f(x') the answer, g(x') the
wrong rule, f(x'') the wrong object, g(x'') both wrong. A spec names three images, two rules and an
order. It takes a few bytes and depends on (seed, puzzle number) alone, so any puzzle can be drawn
again by itself.
"""

import itertools
from typing import NamedTuple

import numpy as np
from torch import Tensor

KINDS = ("right", "wrong rule", "wrong object", "both wrong")
"""What a choice can be: f(x'), g(x'), f(x''), g(x'')."""

ORDERS = np.array(list(itertools.permutations(range(4))), dtype=np.int64)
"""Every order of the four kinds: ORDERS[order, place] is the kind shown at that place."""

BLIND_CHANCE = 0.25
"""Accuracy of a guess among four choices."""
OBJECT_CHANCE = 0.50
"""Accuracy of a solver that finds the right object and ignores the rule."""

FIRST, SECOND, OTHER, RIGHT, WRONG, ORDER = range(6)
"""Columns of a spec: the images x, x', x'', the rules f and g, the order of the choices."""


class Batch(NamedTuple):
    """Rendered puzzles: what a model sees, and what it should answer."""

    images: Tensor
    """float (b, 7, channels, size, size) in 0..1: x, y, x' and the four choices."""
    answers: Tensor
    """int64 (b,): the place of the right choice, 0 to 3."""
