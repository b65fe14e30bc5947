"""Rules of letter strings: what each does, which undo each other, and other alphabets."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fine.errors import FineError
from fine.images.letters import ALPHABET, LONGEST, PERMUTED
from fine.rules.strings import STRING_FAMILIES, string_rules, under

RULES = {str(rule): rule for rule in string_rules("all").rules}
TEXTS = st.text(ALPHABET, min_size=1, max_size=LONGEST)


def becomes(name: str, text: str, **options: str) -> str:
    return under(RULES[name], text, **options)


@pytest.mark.parametrize(
    ("rule", "x", "y"),
    [
        ("successor", "abz", "bca"),
        ("predecessor", "abz", "zay"),
        ("caesar +3", "abz", "dec"),
        ("first +1", "mmnnpp", "nnnnpp"),
        ("last +1", "abc", "abd"),
        ("last +1", "mmnnpp", "mmnnqq"),  # the classic: the last letter of abc is a group of one
        ("last -1", "aaa", "zzz"),
        ("reverse", "abc", "cba"),
        ("rotate left", "abc", "bca"),
        ("rotate right", "abc", "cab"),
        ("swap-ends", "abcd", "dbca"),
        ("double", "abb", "aabbbb"),
        ("delete first", "abc", "bc"),
        ("delete last", "abc", "ab"),
        ("sort up", "cabb", "abbc"),
        ("sort down", "cabb", "cbba"),
    ],
)
def test_a_rule_does_what_its_name_says(rule, x, y):
    assert becomes(rule, x) == y


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_which_rules_are_inverse(text):
    for name in ("reverse", "swap-ends"):
        assert becomes(name, becomes(name, text)) == text
    inverse = {
        "successor": "predecessor",
        "caesar -2": "caesar +2",
        "rotate left": "rotate right",
    }
    for one, two in inverse.items():
        assert becomes(one, becomes(two, text)) == becomes(two, becomes(one, text)) == text
    assert becomes("double", text)[::2] == text
    assert becomes("sort up", becomes("sort down", text)) == becomes("sort up", text)
    assert becomes("successor", becomes("caesar +2", text)) == becomes("caesar +3", text)
    # the last group is the first one of the string backwards
    backwards = becomes("first +1", becomes("reverse", text))
    assert becomes("last +1", text) == becomes("reverse", backwards)


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_families_of_letters_keep_places_and_families_of_places_keep_letters(text):
    for rule in string_rules("letters").rules:
        assert len(under(rule, text)) == len(text)
    for rule in string_rules("places").rules:
        assert set(under(rule, text)) <= set(text)


def test_another_alphabet_has_other_successors_and_moves_no_places():
    first_three = PERMUTED[:3]
    assert becomes("successor", first_three, order=PERMUTED) == PERMUTED[1:4]
    assert becomes("successor", first_three) != PERMUTED[1:4]
    for name in ("reverse", "double", "delete first", "rotate left", "swap-ends"):
        assert becomes(name, "facade", order=PERMUTED) == becomes(name, "facade")


def test_sets_of_string_rules_are_named_like_those_of_images():
    assert list(string_rules("all").families) == list(STRING_FAMILIES)
    rules = string_rules("reverse+places+letters")
    assert next(iter(rules.families)) == "reverse" and len(rules.families) == 10
    assert string_rules("all").order == ALPHABET and string_rules("all:permuted").order == PERMUTED
    assert string_rules("reverse+double").apply(1, "ab") == "aabb"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("affine", "unknown rules of strings 'affine'"),
        ("revers", "did you mean 'reverse'"),
        ("reverse", "'reverse' has 1 rule: a puzzle needs"),
        ("all:unseen", "unknown split of string rules 'unseen'"),
    ],
)
def test_unknown_string_rules_get_one_helpful_line(name, message):
    with pytest.raises(FineError, match=message):
        string_rules(name)


def test_a_string_rule_moves_no_points():
    with pytest.raises(FineError, match="moves letters, not points"):
        RULES["reverse"].family.source(torch.zeros(1, 1, 2))
