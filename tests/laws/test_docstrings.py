"""Every public name says what it is, what its arguments are, and shows an example that runs."""

import ast
import doctest
import inspect
import sys
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import docstring_parser
import pytest

import fine
import fine.experiments
from fine.cli.arguments import field_docstrings
from fine.models.registry import MODELS
from fine.rules.families import FAMILIES

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (fine, fine.experiments)
    for name in module.__all__
}
CALLED = {name: value for name, value in PUBLIC.items() if callable(value)}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


def named(values: dict[str, Any]) -> list:
    return [pytest.param(value, id=name) for name, value in values.items()]


def docstring_of(name: str) -> str:
    """The docstring of a class or a function; of a constant, the string below it in the source."""
    value = PUBLIC[name]
    if callable(value):
        return inspect.getdoc(value) or ""
    own_name = name.rpartition(".")[2]
    for module in [module for path, module in sys.modules.items() if path.startswith("fine.")]:
        if vars(module).get(own_name) is not value:
            continue
        for line, text in pairwise(ast.parse(inspect.getsource(module)).body):
            match line, text:
                case (
                    ast.Assign(targets=[ast.Name(id=found)])
                    | ast.AnnAssign(target=ast.Name(id=found)),
                    ast.Expr(value=ast.Constant(value=str(words))),
                ) if found == own_name:
                    return inspect.cleandoc(words)
    return ""


def arguments_of(value: Any) -> list[str]:
    if inspect.isclass(value) and issubclass(value, Exception):
        return []  # its message
    return list(inspect.signature(value).parameters)


def described_in(value: Any) -> set[str]:
    """The arguments that a docstring describes, or the docstrings of the fields of a class."""
    parsed = docstring_parser.parse(inspect.getdoc(value), docstring_parser.Style.GOOGLE)
    described = {argument.arg_name for argument in parsed.params if argument.description}
    if inspect.isclass(value):
        ours = [kind for kind in value.__mro__ if kind.__module__.startswith("fine.")]
        described.update(field for kind in ours for field in field_docstrings(kind))
    return described


@pytest.mark.parametrize("value", named(CALLED))
def test_every_argument_is_described(value):
    assert [name for name in arguments_of(value) if name not in described_in(value)] == []


@pytest.mark.parametrize("kind", named(CLASSES))
def test_every_method_has_a_docstring(kind):
    methods = {
        name: inspect.getdoc(getattr(kind, name))
        for name, member in vars(kind).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }
    assert [name for name, text in methods.items() if not text] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = docstring_of(name)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert example.examples, f"{name} shows no example"
    complaints: list[str] = []
    runner = doctest.DocTestRunner()
    with patch.dict(FAMILIES), patch.dict(MODELS):  # an example may register its own
        runner.run(example, out=complaints.append)
    assert not complaints, "".join(complaints)
