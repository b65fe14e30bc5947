"""What all commands share: the console they print to, the options they have in common, results as tables."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, NoReturn

import torch
import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fine.errors import FineError, printable
from fine.evaluation import Evaluation

console = Console()

# None stands for "as the task or the protocol has it" and need not be shown as something to type.
OptionalInt = Annotated[int | None, tyro.conf.arg(metavar="INT")]
OptionalFloat = Annotated[float | None, tyro.conf.arg(metavar="FLOAT")]
OptionalPath = Annotated[Path | None, tyro.conf.arg(metavar="PATH")]


def say(text: str) -> None:
    """Print a line as it is: not wrapped, so that paths can be copied, and with [brackets] left alone."""
    console.print("\n".join(map(printable, text.split("\n"))), markup=False, highlight=False, soft_wrap=True)


def fail(problem: FineError) -> NoReturn:
    """Say what is wrong in one line, and exit with code 2."""
    Console(stderr=True).print(f"[bold red]error:[/] {escape(str(problem))}", highlight=False, soft_wrap=True)
    raise SystemExit(2) from None


def given(command: Any, kind: type) -> dict[str, Any]:
    """Those options of a command that belong to ``kind`` and that None stands for unless they are given."""
    shared = {entry.name for entry in fields(kind)} & {entry.name for entry in fields(command) if entry.default is None}
    return {name: value for name in sorted(shared) if (value := getattr(command, name)) is not None}


def use_device(device: str, threads: int) -> None:
    """Check that the device is there and set the number of threads."""
    try:
        torch.zeros(1, device=device).item()  # reading it back also refuses `meta`, which holds no numbers
    except (RuntimeError, AssertionError) as problem:
        raise FineError(f"device '{device}' cannot be used here: choose cpu, or cuda on a machine that has it") from problem
    cores = os.cpu_count() or 1
    if not 0 <= threads <= cores:  # more than cores spend their time waiting for each other
        raise FineError(f"threads is {threads}: give 0 to let torch choose, or up to {cores}, the cores of this machine")
    if threads:
        torch.set_num_threads(threads)


def print_evaluation(evaluation: Evaluation) -> None:
    """Accuracy beside the chance levels, and where the mistakes are."""
    low, high = evaluation.interval
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("[bold]accuracy[/]", f"[bold green]{evaluation.accuracy:.1%}[/]", f"95 % interval {low:.1%} – {high:.1%}")
    chances, choices = evaluation.puzzles.chances, evaluation.probabilities.shape[1]
    if "right object, rule ignored" in chances:
        ignoring = chances["right object, rule ignored"]
        table.add_row("right object only", f"{ignoring:.1%}", "chance for one who ignores the rule")
    among = {3: "three", 4: "four", 5: "five"}.get(choices, str(choices))
    table.add_row("blind", f"{chances['blind']:.1%}", f"chance for one who guesses among {among}")
    mistakes = ", ".join(f"{share:.1%} {name.removesuffix(' wrong')}" for name, share in evaluation.mistakes.items())
    table.add_row("mistakes", f"{1 - evaluation.accuracy:.1%}", mistakes)
    rules, images = evaluation.puzzles.rules.name, evaluation.puzzles.images.name
    say(f"\n{len(evaluation.puzzles):,} test puzzles, {rules} over {images} never seen in training")
    console.print(table)
