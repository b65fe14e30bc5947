"""JSON as dataclasses: it comes back as it was, and what does not fit is named."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from fine.io.typed_json import parse_json, read_as
from support.fuzzing import limits


@dataclass(frozen=True)
class Inner:
    word: str = "usual"


@dataclass(frozen=True)
class Outer:
    number: int
    inner: Inner
    share: float = 0.5
    pairs: tuple[tuple[str, float], ...] = ()
    any: dict[str, Any] = field(default_factory=dict)
    either: str | bool = ""


def test_json_is_read_as_a_dataclass():
    whole = Outer(3, Inner("x"), 1, (("a", 2.0),), {"b": [1]})
    assert read_as(Outer, json.loads(json.dumps(asdict(whole)))) == whole
    assert read_as(Outer, {"number": 3, "inner": {}}) == Outer(3, Inner())
    for either in (True, "true"):
        assert read_as(Outer, {"number": 3, "inner": {}, "either": either}).either is either


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"number": True}, "number is 'True' where int is expected"),
        ({"number": 1.0}, "number is '1.0' where int"),
        ({"inner": 5}, "inner is '5' where Inner"),
        ({"inner": {"word": None}}, "word is 'None' where str"),
        ({"inner": {"word": "a\0b"}}, "where str"),
        ({"inner": {"word": "\ud800"}}, "where str"),
        ({"inner": {"surprise": 1}}, "inner has 'surprise', which is not known here"),
        ({"share": float("nan")}, "share is 'nan' where float"),
        ({"share": 10**400}, "where float"),
        ({"share": "1"}, "share is '1' where float"),
        ({"pairs": [["a"]]}, "pairs has 1 parts where 2 are expected"),
        ({"pairs": "ab"}, "pairs is 'ab' where"),
        ({"any": []}, "any is '\\[\\]' where"),
        ({"either": 1}, r"either is '1' where str \| bool is expected"),
        ({"either": "a\0b"}, r"where str \| bool"),
    ],
)
def test_json_that_does_not_fit_is_named(changed, message):
    with pytest.raises(ValueError, match=message):
        read_as(Outer, {"number": 3, "inner": {}, **changed})


def test_json_that_lacks_a_field_is_named():
    with pytest.raises(ValueError, match="it lacks 'number'"):
        read_as(Outer, {"inner": {}})


@pytest.mark.slow
def test_a_name_that_is_there_twice_is_found_at_once_among_many():
    names = ",".join(f'"{number}":0' for number in range(500_000))
    with limits(), pytest.raises(ValueError, match="it has '499999' twice"):
        parse_json("{" + names + ',"499999":1}')


def test_json_that_is_too_deep_is_a_value_error():
    with pytest.raises(ValueError, match="it is nested too deeply"):
        parse_json("[" * 100_000)
