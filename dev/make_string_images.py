"""Draws the images of docs/strings.md and prints its table of families.

docs/img/strings.png          right answers by family, in four tests
docs/img/string-puzzles.png   three puzzles with their answers

Run after `fine reproduce strings --models fine --seeds 3`: python dev/make_string_images.py
"""

import statistics
from pathlib import Path

from matplotlib.figure import Figure

import fine
from fine.evaluation.metrics import by_family
from fine.experiments import Ledger, make_experiment
from fine.experiments.experiment import label

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "img"
TESTS = ("strings", "strings-longer", "strings-letters", "strings-permuted")
MARKS = dict(zip(TESTS, "osDx", strict=True))
COLOURS = dict(zip(TESTS, ("#0969da", "#1a7f37", "#9a6700", "#cf222e"), strict=True))
GREY = "#59636e"

Shares = dict[str, tuple[float, float]]
"""Family -> mean and standard deviation over seeds, in %."""


def main() -> None:
    """Draw both images and print the table."""
    shares = {test: families(test) for test in TESTS}
    draw(shares, FOLDER / "strings.png")
    puzzles = fine.Task.preset("strings", rules="all").test_puzzles()
    fine.draw_sheet(puzzles, [1, 3, 4], FOLDER / "string-puzzles.png", answers=True)
    print("| family |", " | ".join(map(label, TESTS)), "|\n|---|---|---|---|---|")
    for family in shares[TESTS[0]]:
        numbers = ("{:.1f} ± {:.1f}".format(*shares[test][family]) for test in TESTS)
        print(f"| {family} |", " | ".join(numbers), "|")


def families(test: str) -> Shares:
    """The shares of right answers in one test."""
    cell = make_experiment("strings").place("fine", test).cell
    records = Ledger(ROOT / "results" / "ledger").seeds(cell)
    rows = [
        {family: 100 * right for family, _, right in by_family(record.by_rule)}
        for record in records
    ]
    return {family: mean_and_deviation([row[family] for row in rows]) for family in rows[0]}


def mean_and_deviation(numbers: list[float]) -> tuple[float, float]:
    return statistics.mean(numbers), statistics.stdev(numbers)


def draw(shares: dict[str, Shares], path: Path) -> None:
    """One row per family, one mark per test."""
    names = list(shares[TESTS[0]])
    figure = Figure(figsize=(9, 4.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    for chance, name in ((25, "blind guess"), (50, "rule ignored"), (100, "oracle")):
        axes.axvline(chance, color=GREY, lw=1, ls=":" if chance < 100 else "-")
        axes.text(chance, -0.75, name, ha="center", va="bottom", fontsize=9, color=GREY)
    for number, (test, by_name) in enumerate(shares.items()):
        across, spread = zip(*by_name.values(), strict=True)
        down = [place + 0.16 * (number - 1.5) for place in range(len(names))]
        style = {"fmt": MARKS[test], "color": COLOURS[test], "label": label(test)}
        axes.errorbar(across, down, xerr=spread, ms=6, capsize=2, **style)
    axes.set_yticks(range(len(names)), names)
    title = "right answers in %, mean and standard deviation of 3 seeds"
    axes.set(ylim=(len(names) - 0.4, -0.8), xlim=(20, 103), xlabel=title)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
