"""Random numbers with an address: the same address gives the same bits on every machine.

    random_bits(seed, np.arange(1000), 3)      # uint64 (1000,): stream 3 of puzzles 0 to 999
    random_below(24, seed, 7, 3)               # int64 (1,): a number from 0 to 23

A generator with a hidden state would make puzzle 7 depend on how puzzles 0 to 6 were drawn. Here
each number is a hash (SplitMix64) of its address, such as (seed, puzzle, stream). So puzzle 7 of
seed 0 is always the same puzzle, and a million puzzles are one array operation.
"""

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: every input bit reaches every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def random_bits(*address: int | NDArray[np.integer]) -> NDArray[np.uint64]:
    """64 random bits for each address; the parts of an address broadcast against each other."""
    bits = np.zeros(1, dtype=np.uint64)
    for part in address:
        bits = _mix((bits ^ np.asarray(part).astype(np.uint64)) + _GOLDEN)
    return bits


def random_below(
    bound: int | NDArray[np.integer], *address: int | NDArray[np.integer]
) -> NDArray[np.int64]:
    """An integer from 0 to bound − 1 for each address. The modulo's bias is below bound / 2⁶⁴."""
    return (random_bits(*address) % np.asarray(bound).astype(np.uint64)).astype(np.int64)


def random_uniform(*address: int | NDArray[np.integer]) -> NDArray[np.float64]:
    """A float in [0, 1) for each address, from the upper 53 bits."""
    return (random_bits(*address) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def random_order(count: int, *address: int) -> NDArray[np.int64]:
    """A permutation of 0 … count − 1, fixed by the address."""
    return np.argsort(random_bits(*address, np.arange(count)), kind="stable")
