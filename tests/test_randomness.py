"""Random numbers with an address: fixed for ever, spread evenly, independent of each other."""

import numpy as np

from fine.randomness import random_below, random_bits, random_order, random_uniform


def test_the_bits_of_an_address_never_change():
    # Published puzzles are named by these numbers: a change here changes every data set.
    assert random_bits(0, 0).tolist() == [12035550249420947055]
    assert random_bits(1, 2, 3).tolist() == [15020427595393229491]


def test_parts_of_an_address_broadcast_to_what_single_calls_give():
    together = random_bits(7, np.arange(5)[:, None], np.arange(3))
    assert together.shape == (5, 3)
    assert together[4, 2] == random_bits(7, 4, 2)[0]


def test_the_order_of_parts_matters():
    assert random_bits(1, 2) != random_bits(2, 1)


def test_numbers_are_spread_evenly():
    counts = np.bincount(random_below(10, 3, np.arange(100_000)), minlength=10)
    # 10,000 expected in each; 5 standard deviations of a binomial are 5·√(100,000·0.1·0.9) ≈ 474.
    assert np.abs(counts - 10_000).max() < 474
    uniform = random_uniform(3, np.arange(100_000))
    assert abs(uniform.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 100_000)
    assert uniform.min() >= 0 and uniform.max() < 1


def test_neighbouring_addresses_are_independent():
    bits = random_uniform(0, np.arange(100_000))
    assert abs(np.corrcoef(bits[:-1], bits[1:])[0, 1]) < 5 / np.sqrt(100_000)


def test_an_order_is_a_permutation_of_its_own():
    assert sorted(random_order(100, 1)) == list(range(100))
    assert random_order(100, 1).tolist() != random_order(100, 2).tolist()
