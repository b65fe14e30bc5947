"""How a class becomes a command or a group of options.

@options(Training)
class TrainingOptions:               # its docstring is the heading of the group in --help
    batch: int | None = None         # --batch INT, with the help text that Training.batch has
    protocol: str = "quick"          # --protocol STR, with a docstring of its own

replace(training, **given(group, Training))
"""

import ast
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_origin

import tyro

C = TypeVar("C")


@dataclass_transform(frozen_default=True)
def options(*kinds: type, default: str = "") -> Callable[[type[C]], type[C]]:
    """Decorate a class of options: like `dataclass(frozen=True)`, with a help text for each field.

    That text is the field's docstring, or else the docstring that a field of the same name has in
    one of ``kinds``. None stands for "not given"; ``default`` says what such a field is then.
    """

    def decorate(group: type[C]) -> type[C]:
        own = field_docstrings(group)
        shared = {name: text for kind in kinds for name, text in field_docstrings(kind).items()}
        group.__annotations__ = {
            name: _option(annotation, own.get(name), shared.get(name), default)
            for name, annotation in group.__annotations__.items()
        }
        return dataclass(frozen=True)(group)

    return decorate


def field_docstrings(kind: type) -> dict[str, str]:
    """Field -> the string that stands below it in the source, each on one line."""
    texts = {}
    for field, text in pairwise(_classes(sys.modules[kind.__module__])[kind.__name__].body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                texts[name] = " ".join(words.split())
    return texts


@functools.cache
def _classes(module: ModuleType) -> dict[str, ast.ClassDef]:
    """Name -> the class in the source of a module."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def given(group: Any, kind: type) -> dict[str, Any]:
    """The options of a group that are fields of ``kind`` and have been given.

    One that has not been given is None; a flag that has not, False.
    """
    names = {field.name for field in fields(kind)} & {field.name for field in fields(group)}
    values = {name: getattr(group, name) for name in sorted(names)}
    return {
        name: value
        for name, value in values.items()
        if value is not None and value is not False  # 0 has been given, though 0 == False
    }


def _option(annotation: Any, own: str | None, shared: str | None, default: str) -> Any:
    """A field's type with its settings for tyro; later settings take precedence."""
    kind, *metadata = get_args(annotation) if _is_annotated(annotation) else (annotation,)
    if is_dataclass(kind):
        return Annotated[kind, tyro.conf.OmitArgPrefixes, *metadata]
    hint = _default_hint(default if shared and not own else "")
    first = [tyro.conf.arg(help=shared, metavar=_metavar(kind), help_behavior_hint=hint)]
    if kind is bool:
        first.append(tyro.conf.FlagCreatePairsOff)  # no --no-… beside a flag
    return Annotated[kind, *first, *metadata, tyro.conf.arg(help=own)]


def _is_annotated(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated


def _metavar(kind: Any) -> str | None:
    """INT for `int | None`, where tyro would say {None}|INT; None leaves it to tyro."""
    if not isinstance(kind, UnionType):
        return None
    (only,) = (part for part in get_args(kind) if part is not NoneType)
    return only.__name__.upper()


def _default_hint(default: str) -> Callable[[str], str]:
    """The text behind the help of an option, from its default as a text."""

    def hint(value: str) -> str:
        shown = default if value in ("None", "", "''", "False") else value
        return f"(default: {shown})" if shown else ""

    return hint
