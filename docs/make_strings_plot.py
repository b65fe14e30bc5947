"""Draws img/strings.png and img/string-puzzles.png of docs/strings.md, and prints the table of families.

Run after `fine reproduce strings --models fine --seeds 3`: python docs/make_strings_plot.py
"""

import statistics
from pathlib import Path

from matplotlib.figure import Figure

import fine
from fine.experiments import Ledger, Record, make_experiment
from fine.experiments.experiment import label
from fine.pretrained.cards import by_family

FOLDER = Path(__file__).parent
MARKS = dict(zip(("strings", "strings-longer", "strings-letters", "strings-permuted"), "osDx", strict=True))
COLOURS = dict(zip(MARKS, ("#0969da", "#1a7f37", "#9a6700", "#cf222e"), strict=True))


def main() -> None:
    """Both pictures, and the table."""
    shares = {column: families(column) for column in MARKS}
    draw(shares, FOLDER / "img" / "strings.png")
    puzzles = fine.Task.preset("strings", rules="all").test_puzzles()
    fine.draw_sheet(puzzles, [1, 3, 4], FOLDER / "img" / "string-puzzles.png", answers=True)
    print("| family |", " | ".join(map(label, MARKS)), "|\n|---|---|---|---|---|")
    for family in next(iter(shares.values())):
        print(f"| {family} |", " | ".join("{:.1f} ± {:.1f}".format(*shares[column][family]) for column in MARKS), "|")


def families(column: str) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation over seeds, in %, of every family in a test."""
    cell = make_experiment("strings").place("fine", column).cell
    records = Ledger(FOLDER.parent / "results" / "ledger").seeds(cell)
    rows = [{family: 100 * right for family, _, right in by_family(as_result(record))} for record in records]
    return {
        family: (statistics.mean(row[family] for row in rows), statistics.stdev(row[family] for row in rows))
        for family in rows[0]
    }


def as_result(record: Record) -> dict[str, object]:
    return {"by_rule": record.by_rule}


def draw(shares: dict[str, dict[str, tuple[float, float]]], path: Path) -> None:
    """A row for every family, a mark for every test."""
    names = list(next(iter(shares.values())))
    figure = Figure(figsize=(9, 4.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    for chance, name in ((25, "blind guess"), (50, "rule ignored"), (100, "oracle")):
        axes.axvline(chance, color="#59636e", lw=1, ls=":" if chance < 100 else "-")
        axes.text(chance, -0.75, name, ha="center", va="bottom", fontsize=9, color="#59636e")
    for number, (column, by_name) in enumerate(shares.items()):
        across, spread = zip(*by_name.values(), strict=True)
        down = [place + 0.16 * (number - 1.5) for place in range(len(names))]
        axes.errorbar(across, down, xerr=spread, fmt=MARKS[column], ms=6, color=COLOURS[column], capsize=2, label=label(column))
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.4, -0.8), xlim=(20, 103), xlabel="right answers in %, mean and standard deviation of 3 seeds")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
