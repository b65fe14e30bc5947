"""Letter strings as grids: what a grid shows, and which strings are refused."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fine.errors import FineError
from fine.images.letters import (
    ALPHABET,
    LONGEST,
    PERMUTED,
    SEEN,
    SIZE,
    UNSEEN,
    check_text,
    grid,
    texts_of,
)


def test_a_grid_has_a_row_per_letter_and_a_column_per_place() -> None:
    image = grid(["cab"])[0, 0]
    assert image.shape == (SIZE, SIZE)
    assert image.nonzero().tolist() == [[0, 1], [1, 2], [2, 0]]  # a second, b third, c first
    assert image.max() == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(ALPHABET, min_size=1, max_size=SIZE), min_size=1, max_size=4))
def test_texts_are_read_back_from_their_grids(texts: list[str]) -> None:
    assert texts_of(grid(texts)[None]) == [texts]


def test_some_letters_are_kept_from_training_in_every_order() -> None:
    assert SEEN + UNSEEN == ALPHABET
    assert sorted(PERMUTED) == list(ALPHABET) and PERMUTED.endswith(UNSEEN) and PERMUTED != ALPHABET


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x '' has 0 letters: give 1 to 16"),
        ("a" * (LONGEST + 1), "has 17 letters: give 1 to 16"),
        ("abD", "x 'abD' has the unknown letter 'D': use a to z"),
        ("é", "unknown letter 'é'"),
    ],
)
def test_a_string_that_no_puzzle_can_be_about_is_refused(text: str, message: str) -> None:
    with pytest.raises(FineError, match=message):
        check_text(text, "x")


def test_the_longest_string_still_fits_when_doubled() -> None:
    text = check_text("z" * LONGEST, "x")
    assert torch.equal(grid([2 * text]).sum(), torch.tensor(2.0 * LONGEST))
