"""Pools of letter strings, as images: each string is a class, drawn by addressed random numbers.

    strings = load_strings("strings")  # strings.class_names: ("tdd", "ksrm", …)

| name | letters | length |
|---|---|---|
| strings | a to t | 3 to 6 |
| strings-longer | a to t | 7 to 10 |
| strings-letters | u to z, which training never shows | 3 to 6 |

A letter may repeat the one before it, so that there are groups of equal letters.
"""

import functools
from itertools import islice

import numpy as np
import torch

from fine.errors import FineError, unknown
from fine.images.images import Images
from fine.images.letters import SEEN, SIZE, UNSEEN, grid
from fine.randomness import random_below, random_bits, random_uniform

COUNT = 4_000
"""Strings of a pool."""
REPEATED = 0.25
"""The probability that a letter repeats the one before it."""

POOLS: dict[str, tuple[str, range]] = {
    "strings": (SEEN, range(3, 7)),
    "strings-longer": (SEEN, range(7, 11)),
    "strings-letters": (UNSEEN, range(3, 7)),
}
"""Letters and lengths of every pool."""

_STRINGS = 7  # first part of an address: what the random number is for
_LENGTH, _LETTER, _REPEAT = 0, 1, 2  # streams of random numbers of a string


def are_strings(source: str) -> bool:
    """Whether this names a pool of strings."""
    return source == "strings" or source.startswith("strings-")


def load_strings(name: str, *, size: int = SIZE) -> Images:
    """The strings of a pool as grids; each is its own class, named by its text."""
    if name not in POOLS:
        raise unknown("pool of strings", name, POOLS)
    if size != SIZE:
        raise FineError(
            f"strings cannot have size {size}: they are shown as grids of {SIZE} × {SIZE}, one row "
            "per letter and one column per place"
        )
    return _load(name)


@functools.lru_cache(maxsize=4)
def _load(name: str) -> Images:
    letters, lengths = POOLS[name]
    base = random_bits(_STRINGS, list(POOLS).index(name), np.arange(4 * COUNT))  # more than needed
    places = np.arange(max(lengths))
    drawn = random_below(len(letters), base[:, None], _LETTER, places)  # (strings, places)
    repeated = random_uniform(base[:, None], _REPEAT, places) < REPEATED
    for place in places[1:]:
        drawn[:, place] = np.where(repeated[:, place], drawn[:, place - 1], drawn[:, place])
    ends = lengths.start + random_below(len(lengths), base, _LENGTH)
    rows = zip(drawn.tolist(), ends.tolist(), strict=True)
    texts = ("".join(letters[number] for number in row[:end]) for row, end in rows)
    names = tuple(islice(dict.fromkeys(texts), COUNT))  # no string twice
    return Images(name, grid(names).mul(255).byte(), torch.arange(len(names)), names)
