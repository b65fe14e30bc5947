"""Pools of strings: what they hold, and which names and sizes are refused."""

from itertools import pairwise

import pytest
import torch

from fine.errors import FineError
from fine.images import are_strings, load_strings
from fine.images.letters import texts_of
from fine.images.strings import POOLS


@pytest.mark.parametrize("name", POOLS)
def test_a_pool_holds_what_it_says_and_nothing_twice(name: str) -> None:
    texts = load_strings(name).class_names
    letters, lengths = POOLS[name]
    assert len(set(texts)) == len(texts) == 4_000
    assert set("".join(texts)) == set(letters)
    assert {len(text) for text in texts} == set(lengths)
    has_groups = any(one == two for text in texts for one, two in pairwise(text))
    assert has_groups


def test_each_string_is_a_class_and_its_image_shows_it() -> None:
    strings = load_strings("strings")
    assert torch.equal(strings.labels, torch.arange(4_000))
    assert strings.pixels.shape == (4_000, 1, 32, 32) and strings.pixels.dtype == torch.uint8
    shown = texts_of(strings.pixels[None, :50] / 255)[0]
    assert tuple(shown) == strings.class_names[:50]


def test_what_is_no_pool_is_refused() -> None:
    assert are_strings("strings") and are_strings("strings-longer") and not are_strings("glyphs")
    with pytest.raises(FineError, match="did you mean 'strings-longer'"):
        load_strings("strings-long")
    with pytest.raises(FineError, match="strings cannot have size 28"):
        load_strings("strings", size=28)
