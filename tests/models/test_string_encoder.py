"""Embeddings of strings make linear maps of rules: reversing, dropping, doubling, Caesar steps."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fine.errors import FineError
from fine.images.letters import ALPHABET, LONGEST, grid
from fine.models import make_model, model_config
from fine.models.encoders import make_encoder
from fine.models.fine import FINEConfig
from fine.models.string_encoder import BLOCKS, FREQUENCIES, PLACE, STRING_SETTINGS
from fine.rules.strings import string_rules

LEFT, RIGHT, FIRST_GROUP, LAST_GROUP, SORTED = range(BLOCKS)


def embed(text: str, places: int = 4) -> Tensor:  # (places, blocks, numbers of a letter)
    """The embedding of a string, whose gains are still 1."""
    options = {"channels": 1, "size": 32, "embedding_size": places * PLACE, "columns": 1}
    encoder = make_encoder("strings", **options)
    return encoder(grid([text]))[0].detach().view(places, BLOCKS, -1)


def becomes(rule: str, text: str) -> str:
    rules = string_rules("all")
    numbers = {str(each): number for number, each in enumerate(rules.rules)}
    return rules.apply(numbers[rule], text)


@settings(max_examples=50, deadline=None)
@given(st.text(ALPHABET, min_size=4, max_size=LONGEST))
def test_rules_of_places_move_rows_at_every_length(text):
    plain, reversed_ = embed(text), embed(text[::-1])
    torch.testing.assert_close(reversed_[:, [LEFT, RIGHT]], plain[:, [RIGHT, LEFT]])
    torch.testing.assert_close(embed(text[1:])[:3, LEFT], plain[1:, LEFT])
    torch.testing.assert_close(embed(text[:-1])[:3, RIGHT], plain[1:, RIGHT])
    doubled = embed(becomes("double", text))
    torch.testing.assert_close(doubled[:, LEFT], plain[[0, 0, 1, 1], LEFT])


@settings(max_examples=50, deadline=None)
@given(st.text(ALPHABET, min_size=1, max_size=LONGEST), st.sampled_from([-3, -2, 2, 3]))
def test_a_step_in_the_alphabet_rotates_the_circle_whatever_the_letter(text, steps):
    angles = 2 * torch.pi * steps / 26 * torch.tensor(FREQUENCIES)
    turns = [torch.tensor([[a.cos(), -a.sin()], [a.sin(), a.cos()]]) for a in angles]
    rotation = torch.block_diag(*turns)
    moved = embed(becomes(f"caesar {steps:+d}", text))[:, [LEFT, RIGHT]]
    expected = embed(text)[:, [LEFT, RIGHT]] @ rotation.T
    torch.testing.assert_close(moved, expected, atol=1e-5, rtol=1e-4)


def test_both_ends_of_a_long_string_are_seen_as_those_of_a_short_one():
    long = embed("abcdefghijklmnop", places=2)
    torch.testing.assert_close(long[:, LEFT], embed("ab", places=2)[:, LEFT])
    torch.testing.assert_close(long[:, RIGHT], embed("op", places=2)[:, RIGHT])


def test_groups_and_sorted_letters_have_blocks_of_their_own():
    embedding = embed("bbacc")
    torch.testing.assert_close(embedding[:, FIRST_GROUP], embed("bb")[:, LEFT])
    torch.testing.assert_close(embedding[:, LAST_GROUP], embed("cc")[:, LEFT])
    torch.testing.assert_close(embedding[:, SORTED], embed("abbcc")[:, LEFT])


def test_columns_show_letters_by_their_neighbours():
    torch.manual_seed(0)
    options = {"channels": 1, "size": 32, "embedding_size": 2 * 4 * PLACE, "columns": 2}
    encoder = make_encoder("strings", **options)
    columns = encoder(grid(["abbbc"]))[0].view(4, BLOCKS, -1, 2)[:, LEFT]
    plain = embed("abbbc")[:, LEFT]
    # a stands alone, the first b before an equal one, the second between two, the third after one
    for place, kind in enumerate((0, 2, 3, 1)):
        torch.testing.assert_close(columns[place], plain[place, :, None] * encoder.among[kind])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": 3}, "reads grids with 1 channel, not 3: choose another encoder"),
        ({"embedding_size": 33 * PLACE}, "has 33 places, and a string has 32"),
    ],
)
def test_what_cannot_be_built_is_refused(options, message):
    usual = {"channels": 1, "size": 32, "embedding_size": 50, "columns": 1}
    with pytest.raises(FineError, match=message):
        make_encoder("strings", **{**usual, **options})


def test_the_settings_for_strings_build_a_model_of_strings():
    assert FINEConfig().encoder != "strings"
    assert model_config("fine", STRING_SETTINGS).encoder == "strings"
    model = make_model("fine", channels=1, size=32, settings=STRING_SETTINGS)
    grids = grid(["abc", "abd", "mnp", "mnq", "mnp", "abd", "xyz"])[None]
    assert model(grids).shape == (1, 4)
