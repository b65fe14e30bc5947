"""The command line: `fine …` makes the same calls as a Python program, and prints what they return.

Each command is a class in the file of its name, and its fields are the options (arguments.py).
Options that several commands have are declared once, in options.py.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import tyro

from fine.cli.terminal import console, fail
from fine.distributed import leave
from fine.errors import FineError

COMMANDS = {
    "train": "Train",
    "evaluate": "Evaluate",
    "learn": "Learn",
    "puzzles": "ShowPuzzles",
    "data": "Data",
    "reproduce": "Reproduce",
    "report": "Report",
    "solve": "Solve",
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


def main() -> None:
    """Run one command; an error is one line on standard error and exit code 2."""
    if int(os.environ.get("RANK", "0")):
        console.quiet = True  # under torchrun, the first process speaks for all
    try:
        read_command(sys.argv[1:] or ["--help"]).run()
        leave()
    except FineError as problem:
        fail(problem)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except (MemoryError, RuntimeError) as problem:
        if "memory" not in str(problem).lower():
            raise
        fail(
            FineError(
                "there is not enough memory for this: use a smaller --batch, fewer slots or fewer "
                "puzzles"
            )
        )
    except BrokenPipeError:  # the reader went away, as in `fine … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as problem:  # a name too long for a file, a folder without permission
        if problem.filename is None:
            raise
        fail(
            FineError(f"{problem.filename} cannot be used ({problem.strerror}): give another path")
        )


def read_command(arguments: Sequence[str]) -> Any:
    """The command with its options, ready to run."""
    for argument in arguments:
        name, _, _ = argument.partition("=")
        if name in RENAMED:
            raise FineError(f"{name} is called {RENAMED[name]} now: use that")
    name = arguments[0]
    if name in COMMANDS:
        return tyro.cli(_command(name), prog=f"fine {name}", args=arguments[1:])
    return tyro.extras.subcommand_cli_from_dict(
        {name: _command(name) for name in COMMANDS},
        prog="fine",
        description=DESCRIPTION,
        args=arguments,
    )


def _command(name: str) -> type:
    return getattr(import_module(f"fine.cli.{name}"), COMMANDS[name])
