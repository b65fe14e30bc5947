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
    texts: dict[str, None] = {}  # a set that keeps its order
    for number in range(10 * COUNT):
        texts[_text(letters, lengths, list(POOLS).index(name), number)] = None
        if len(texts) == COUNT:
            break
    names = tuple(texts)
    return Images(name, grid(names).mul(255).byte(), torch.arange(len(names)), names)


def _text(letters: str, lengths: range, pool: int, number: int) -> str:
    base = random_bits(7, pool, number)
    length = lengths[int(random_below(len(lengths), base, 0)[0])]
    places = np.arange(length)
    drawn = random_below(len(letters), base, 1, places)
    repeated = random_uniform(base, 2, places) < REPEATED
    text = ""
    for letter, again in zip(drawn, repeated, strict=True):
        text += text[-1] if again and text else letters[letter]
    return text
