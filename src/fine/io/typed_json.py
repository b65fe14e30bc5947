"""JSON read as dataclasses, with every type checked: a file may come from anyone.

config = read_as(RunConfig, parse_json(text))     # a ValueError names what does not fit
"""

import dataclasses
import functools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""JSON can hold zero characters and half characters; file names and terminals cannot."""
_hints = functools.cache(get_type_hints)


def parse_json(text: str | bytes) -> Any:
    """What a text of JSON holds; a ValueError if it is none, has a name twice, or is too deep."""
    try:
        return json.loads(text, object_pairs_hook=_unique_names)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, for ``object_pairs_hook``: of a name twice, one would be lost."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"it has {twice[:40]!r} twice")
    return content


def read_as(kind: type[Kind], value: Any, name: str = "it") -> Kind:
    """``value`` as a ``kind``: a dataclass, NamedTuple, tuple, dict or plain type, nested as it is.

    Fields that are left out have their defaults; unknown fields are refused. ``name`` is what an
    error calls the value.
    """
    return _read(kind, value, name)


def _read(kind: Any, value: Any, name: str) -> Any:
    if kind is Any or _fits(kind, value):  # first, for most values are plain
        return value
    container = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return _read_fields(kind, value, name)
    if container is dict and isinstance(value, dict):
        return {key: _read(get_args(kind)[1], part, key) for key, part in value.items()}
    if container is tuple and isinstance(value, list | tuple):
        return tuple(_read_parts(get_args(kind), value, name))
    if hasattr(kind, "_fields") and isinstance(value, list):
        return kind(*_read_parts(tuple(_hints(kind).values()), value, name))
    expected = getattr(kind, "__name__", kind)
    raise ValueError(f"{name} is {str(value)[:40]!r} where {expected} is expected")


def _read_fields(kind: Any, value: dict[str, Any], name: str) -> Any:
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := value.keys() - fields.keys():
        raise ValueError(f"{name} has {min(unknown)!r}, which is not known here")
    for key, field in fields.items():
        if key not in value and _is_required(field):
            raise ValueError(f"{name} lacks {key!r}")
    hints = _hints(kind)
    return kind(**{key: _read(hints[key], part, key) for key, part in value.items()})


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _read_parts(kinds: tuple[Any, ...], value: Sequence[Any], name: str) -> list[Any]:
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise ValueError(f"{name} has {len(value)} parts where {len(kinds)} are expected")
    return [_read(kind, part, name) for kind, part in zip(kinds, value, strict=True)]


def _fits(kind: Any, value: Any) -> bool:
    if kind is float:
        # A whole number stays an int: the keys of cells are made from the text of a number.
        return type(value) in (int, float) and abs(value) < 1e300 and not math.isnan(value)
    if isinstance(kind, UnionType):
        return any(_fits(one, value) for one in get_args(kind))
    if kind is str and type(value) is str:
        return _NO_TEXT.search(value) is None
    return type(value) is kind
