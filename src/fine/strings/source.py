"""Where strings come from: pools of different strings, each a class of its own, made by addressed random numbers.

    strings = load_strings("strings")          # strings.class_names: ("tdd", "ksrm", …)

| name | letters | length |
|---|---|---|
| strings | a to t | 3 to 6 |
| strings-longer | a to t | 7 to 10 |
| strings-letters | u to z, which training never shows | 3 to 6 |

A new letter may repeat the one before it, so that there are groups.
"""

import functools
from itertools import islice

import numpy as np
import torch

from fine.errors import FineError, unknown
from fine.images import Images
from fine.randomness import random_below, random_bits, random_uniform
from fine.strings.alphabet import SEEN, SIZE, UNSEEN, grid

COUNT = 4_000
"""Strings of a pool."""
REPEATED = 0.25
"""How often a letter is the one before it."""

POOLS: dict[str, tuple[str, range]] = {
    "strings": (SEEN, range(3, 7)),
    "strings-longer": (SEEN, range(7, 11)),
    "strings-letters": (UNSEEN, range(3, 7)),
}
"""Letters and lengths of every pool."""


def are_strings(source: str) -> bool:
    """Whether this names a source of strings."""
    return source == "strings" or source.startswith("strings-")


def load_strings(name: str, *, size: int = SIZE) -> Images:
    """The strings of a pool as pictures, each its own class, named by its text."""
    if name not in POOLS:
        raise unknown("source of strings", name, POOLS)
    if size != SIZE:
        raise FineError(
            f"strings are seen as {SIZE} × {SIZE} pictures, a row a letter and a column a place: size {size} will not do"
        )
    return _load(name)


@functools.lru_cache(maxsize=4)
def _load(name: str) -> Images:
    letters, lengths = POOLS[name]
    base = random_bits(7, list(POOLS).index(name), np.arange(4 * COUNT))
    places = np.arange(max(lengths))
    drawn = random_below(len(letters), base[:, None], 1, places)
    repeated = random_uniform(base[:, None], 2, places) < REPEATED
    for place in places[1:]:
        drawn[:, place] = np.where(repeated[:, place], drawn[:, place - 1], drawn[:, place])
    ends = lengths.start + random_below(len(lengths), base, 0)
    texts = ("".join(letters[n] for n in row[:end]) for row, end in zip(drawn.tolist(), ends.tolist(), strict=True))
    names = tuple(islice(dict.fromkeys(texts), COUNT))  # no string twice
    return Images(name, grid(names).mul(255).byte(), torch.arange(len(names)), names)
