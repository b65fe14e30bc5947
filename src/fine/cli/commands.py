"""Which commands there are, and how a command line becomes one of them, ready to run."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import make_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Union

import tyro

from fine.errors import FineError, printable
from fine.version import __version__

COMMANDS = {
    "train": "Train",
    "evaluate": "Evaluate",
    "learn": "Learn",
    "puzzles": "ShowPuzzles",
    "data": "Data",
    "reproduce": "Reproduce",
    "report": "Report",
    "solve": "Solve",
    "apply": "Apply",
    "export": "Export",
    "calibrate": "Calibrate",
    "slots": "ShowSlots",
    "map": "DrawMap",
    "demo": "Demo",
    "bench": "Bench",
}
"""Name -> the class in fine.cli.NAME. Only the command that is called is imported."""

RENAMED = {
    "--rate": "--learning-rate",
    "--clip": "--grad-clip",
    "--fresh": "--resample-each-epoch",
    "--turned": "--augment-images",
    "--views": "--augment-puzzles",
    "--through": "--conjugate",
    "--arrival": "--continual",
    "--ask": "--variant",
    "--picture": "--sheet",
}
"""Options of earlier versions -> what they are called now."""

DESCRIPTION = (
    "Show one example pair, get the function that made it: train and test FINE on IQ puzzles."
)


def read_command(arguments: Sequence[str]) -> Any:
    """The command with its options, ready to run."""
    for argument in arguments:
        name, _, _ = argument.partition("=")
        if name in RENAMED:
            raise FineError(f"{name} is called {RENAMED[name]} now: use that")
    name = arguments[0]
    if name == "--version":
        print(f"fine {__version__}")
        raise SystemExit(0)
    if name in COMMANDS:
        return _parse(_command(name), prog=f"fine {name}", arguments=arguments[1:])
    if name in ("-h", "--help") or not name.startswith("-"):
        return _parse(_program(_outline), prog="fine", arguments=arguments)
    # An option before the command: to say which commands have it, all of them are imported.
    return _parse(_program(_command), prog="fine", arguments=arguments)


def _parse(kind: Any, *, prog: str, arguments: Sequence[str]) -> Any:
    """``arguments`` as a ``kind``; tyro prints help and errors, and exits."""
    shown = [printable(argument) for argument in arguments]
    harmless = shown == list(arguments)
    try:
        return tyro.cli(kind, prog=prog, args=arguments, console_outputs=harmless)
    except SystemExit:
        if not harmless:  # once more, for an error that cannot move the cursor
            tyro.cli(kind, prog=prog, args=shown)
        raise
    except AssertionError as problem:  # a shell for which tyro has no completion
        raise FineError(str(problem)) from problem


def _program(class_of: Callable[[str], type]) -> type:
    """All commands as one class, as tyro wants it."""
    kinds = (Annotated[class_of(name), tyro.conf.subcommand(name=name)] for name in COMMANDS)
    any_of_them: Any = Union[tuple(kinds)]  # noqa: UP007 - there is no other way to write it
    version = tyro.conf.arg(help="show the version and exit", help_behavior_hint="")
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        ("command", Annotated[any_of_them, tyro.conf.OmitSubcommandPrefixes]),
        ("version", Annotated[bool, tyro.conf.FlagCreatePairsOff, version], False),
    ]
    return make_dataclass("Program", fields, namespace={"__doc__": DESCRIPTION})


def _command(name: str) -> type:
    return getattr(import_module(f"fine.cli.{name}"), COMMANDS[name])


def _outline(name: str) -> type:
    """A command without options: its docstring alone, read without importing the command."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    nodes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    docstring = ast.get_docstring(nodes[COMMANDS[name]])
    return make_dataclass(COMMANDS[name], [], namespace={"__doc__": docstring})
