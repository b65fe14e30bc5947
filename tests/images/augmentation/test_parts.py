"""How parts of an augmentation are written."""

import pytest

from fine.errors import FineError
from fine.images.augmentation import PARTS, read_parts


def test_parts_are_read_once_each_and_in_one_order():
    assert read_parts("") == ()
    assert read_parts("mask+edges") == read_parts("edges+mask+edges") == ("edges", "mask")
    assert read_parts("all") == read_parts("+".join(reversed(PARTS))) == PARTS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edgs", "unknown augmentation of images 'edgs': did you mean 'edges'"),
        ("edges+", "unknown augmentation of images ''"),
        ("edges mask", "unknown augmentation of images 'edges mask'"),
        ("all+edges", r"'all\+edges' names 'all' and others"),
    ],
)
def test_what_is_no_part_is_refused(text, message):
    with pytest.raises(FineError, match=message):
        read_parts(text)
