"""The console that commands print to, and what several of them print."""

from typing import NoReturn

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fine.errors import FineError, printable
from fine.evaluation import Evaluation

console = Console()


def say(text: str) -> None:
    """Print lines as they are: not wrapped, so that paths can be copied, and with [brackets]."""
    lines = "\n".join(map(printable, text.split("\n")))
    console.print(lines, markup=False, highlight=False, soft_wrap=True)


def fail(problem: FineError) -> NoReturn:
    """Say what is wrong in one line, and exit with code 2."""
    text = f"[bold red]error:[/] {escape(str(problem))}"
    Console(stderr=True).print(text, highlight=False, soft_wrap=True)
    raise SystemExit(2) from None


def print_evaluation(evaluation: Evaluation) -> None:
    """Accuracy beside the chance levels, and where the mistakes are."""
    puzzles, accuracy = evaluation.puzzles, evaluation.accuracy
    low, high = evaluation.interval
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row(
        "[bold]accuracy[/]",
        f"[bold green]{accuracy:.1%}[/]",
        f"95 % interval {low:.1%} – {high:.1%}",
    )
    chances, choices = puzzles.chances, evaluation.probabilities.shape[1]
    if "right object, rule ignored" in chances:
        ignoring = chances["right object, rule ignored"]
        table.add_row("right object only", f"{ignoring:.1%}", "chance when the rule is ignored")
    among = {3: "three", 4: "four", 5: "five"}.get(choices, str(choices))
    table.add_row("blind", f"{chances['blind']:.1%}", f"chance of a guess among {among}")
    shares = evaluation.mistakes.items()
    mistakes = ", ".join(f"{share:.1%} {name.removesuffix(' wrong')}" for name, share in shares)
    table.add_row("mistakes", f"{1 - accuracy:.1%}", mistakes)
    say(
        f"\n{len(puzzles):,} test puzzles, {puzzles.rules.name} over {puzzles.images.name} never "
        "seen in training"
    )
    console.print(table)
