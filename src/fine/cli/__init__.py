"""The command line: `fine …` turns options into the same calls a Python program makes, and prints what they return.

Each command is a dataclass in a file of its own; its fields are the options.
"""

import os
import sys
from typing import Annotated

import tyro

from fine.cli.bench import Bench
from fine.cli.calibrate import Calibrate
from fine.cli.data import Data
from fine.cli.demo import Demo
from fine.cli.evaluate import Evaluate
from fine.cli.export import Export
from fine.cli.learn import Learn
from fine.cli.map import DrawMap
from fine.cli.puzzles import ShowPuzzles
from fine.cli.report import Report
from fine.cli.reproduce import Reproduce
from fine.cli.slots import ShowSlots
from fine.cli.solve import Solve
from fine.cli.terminal import console, fail
from fine.cli.train import Train
from fine.errors import FineError
from fine.processes import part

Command = (
    Train
    | Evaluate
    | Learn
    | Annotated[ShowPuzzles, tyro.conf.subcommand("puzzles")]
    | Data
    | Reproduce
    | Report
    | Solve
    | Export
    | Calibrate
    | Annotated[ShowSlots, tyro.conf.subcommand("slots")]
    | Annotated[DrawMap, tyro.conf.subcommand("map")]
    | Demo
    | Bench
)

DESCRIPTION = "Show one example pair, get the function that made it: train and test FINE on IQ puzzles."


def main() -> None:
    """Run one command; an error is one line on standard error and exit code 2."""
    if int(os.environ.get("RANK", "0")):
        console.quiet = True  # under torchrun, one process speaks for all
    arguments = sys.argv[1:] or ["--help"]
    try:
        command = tyro.cli(Command, prog="fine", description=DESCRIPTION, args=arguments)
        command.run()
        part()
    except FineError as problem:
        fail(problem)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except (MemoryError, RuntimeError) as problem:
        if "memory" not in str(problem).lower():
            raise
        fail(FineError("there is not enough memory for this: use a smaller --batch, fewer slots or fewer puzzles"))
    except BrokenPipeError:  # the reader went away, as `fine … | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as problem:  # a name too long for a file, a folder one may not look into
        if problem.filename is None:
            raise
        fail(FineError(f"{problem.filename} cannot be used ({problem.strerror}): give another path"))
