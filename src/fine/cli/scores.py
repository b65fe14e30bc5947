"""The outcome of a test in the terminal, which several commands print."""

from rich.table import Table
from rich.text import Text

from fine.cli.terminal import console, say
from fine.evaluation import Evaluation, PairedTest
from fine.evaluation.metrics import Scored


def print_evaluation(evaluation: Evaluation) -> None:
    """Accuracy beside the chance levels, and where the mistakes are."""
    puzzles, accuracy = evaluation.puzzles, evaluation.accuracy
    low, high = evaluation.interval
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row(
        Text("accuracy", style="bold"),
        Text(f"{accuracy:.1%}", style="bold green"),
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
        "",
        f"{len(puzzles):,} test puzzles, {puzzles.rules.name} over {puzzles.images.name} never "
        "seen in training",
    )
    console.print(table)


def print_comparison(name: str, other: Scored, test: PairedTest) -> None:
    """What another model answered to the same puzzles, and whether the difference is chance."""
    low, high = test.interval
    p_value = f"p = {test.p_value:.3f}" if test.p_value >= 0.001 else "p < 0.001"
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("accuracy", f"{other.accuracy:.1%}", f"of {name}, on the same puzzles")
    table.add_row(
        Text("difference", style="bold"),
        Text(f"{100 * test.difference:+.1f}", style="bold green"),
        f"points, 95 % interval {100 * low:+.1f} to {100 * high:+.1f}, {p_value} (McNemar)",
    )
    alone = f"by the first alone, {test.only_second:,} by the other alone"
    table.add_row("solved", f"{test.only_first:,}", alone)
    say("")
    console.print(table)
