"""What `continual` and `memory` show besides accuracy: figures of learning in turn, numbers in a memory, and a picture each.

further_table(compare(make_experiment("continual"), ledger))       # Markdown
draw_figure(compare(make_experiment("memory"), ledger), Path("results/memory.png"))
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fine.continual.stages import Figures, Row, figures
from fine.experiments.comparison import MISSING, Comparison, Entry
from fine.experiments.experiment import label
from fine.runs import RunConfig
from fine.storage import written_whole

_INK = ("#c2410c", "#1d4ed8", "#0f766e", "#7c3aed", "#64748b", "#a16207", "#be185d")
_MARKS = "osD^vPX"


def further_table(comparison: Comparison) -> str:
    """The second table of an experiment that has one, as Markdown; nothing for the others."""
    tables = {"continual": _figures_table, "memory": _numbers_table}
    make = tables.get(comparison.experiment.name)
    return f"\n{make(comparison)}" if make else ""


def draw_figure(comparison: Comparison, path: Path) -> bool:
    """Draw the picture of an experiment that has one and of which something has been run; says whether it did."""
    pictures: dict[str, Callable[[Comparison], Figure]] = {"continual": _staircase, "memory": _curve}
    draw = pictures.get(comparison.experiment.name)
    if draw is None or not comparison.records:
        return False
    with written_whole(path) as temporary:
        draw(comparison).savefig(temporary, format="png", dpi=160)
    return True


def in_turn(entry: Entry) -> list[Figures]:
    """The figures of a place of `continual`, one for every seed; none where all was learnt together."""
    return [figures(record.stages) for record in entry.records if record.stages]


def memory_numbers(config: RunConfig) -> int:
    """How many numbers the memories of a run's model have."""
    return sum(p.numel() for name, p in config.build().named_parameters() if name.startswith("backbone.memories."))


def _figures_table(comparison: Comparison) -> str:
    lines = [
        "| pictures | arrival | average | below joint | forgetting | forward transfer | seeds | minutes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for column in comparison.experiment.columns:
        joint = comparison.entry("joint", column).here
        for row in comparison.experiment.rows:
            entry = comparison.entry(row, column)
            found = in_turn(entry)
            if entry.here is None:
                continue
            below = f"{joint - entry.here:.1f}" if joint is not None else MISSING
            lost, gained = (_points([getattr(one, name) for one in found]) for name in ("forgetting", "transfer"))
            minutes = statistics.fmean(record.minutes for record in entry.records)
            cells = (label(column), row, str(entry), below, lost, gained, str(len(entry.records)), f"{minutes:.1f}")
            lines.append(f"| {' | '.join(cells)} |")
    notes = (
        "Average: accuracy over the test puzzles of all families at the end. Forgetting: points lost since a family was known "
        "best. Forward transfer: points above 50, which ignoring the rule gives, just before a family comes."
    )
    return "\n".join([*lines, "", notes]) + "\n"


def _points(shares: list[float]) -> str:
    if not shares:
        return "–"
    spread = f" ± {100 * statistics.stdev(shares):.1f}" if len(shares) > 1 else ""
    return f"{100 * statistics.fmean(shares):.1f}{spread}"


def _numbers_table(comparison: Comparison) -> str:
    lines = [
        "| code | slots | numbers in the memory | of full | accuracy | training puzzles/s |",
        "|---|---|---|---|---|---|",
    ]
    for column in comparison.experiment.columns:
        full = memory_numbers(comparison.entry("full", column).place.cell.config)
        for row in comparison.experiment.rows:
            entry = comparison.entry(row, column)
            numbers = memory_numbers(entry.place.cell.config)
            cells = (column, row, f"{numbers:,}", f"{numbers / full:.0%}", str(entry), _speed(entry))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _speed(entry: Entry) -> str:
    speeds = [record.epochs * record.train_puzzles / (60 * record.minutes) for record in entry.records if record.minutes]
    return f"{statistics.median(speeds):,.0f}" if speeds else MISSING


def _staircase(comparison: Comparison) -> Figure:
    """Accuracy over the families that have come so far, the mean of all seeds; dotted is what ignoring the rule gives."""
    columns = [c for c in comparison.experiment.columns if any(in_turn(e) for e in comparison.entries if e.place.column == c)]
    columns = columns or [comparison.experiment.columns[0]]
    figure = Figure(figsize=(5.2 * len(columns) + 1.6, 4.2), layout="constrained")
    lines: dict[str, Artist] = {}
    for axes, column in zip(figure.subplots(1, len(columns), squeeze=False, sharey=True)[0], columns, strict=True):
        for row, ink, mark in zip(comparison.experiment.rows, _INK, _MARKS, strict=False):
            entry = comparison.entry(row, column)
            if entry.here is None:
                continue
            if not entry.records[0].stages:
                lines[f"{row} (ceiling)"] = axes.axhline(entry.here, color="#334155", lw=1, ls="--")
                continue
            seeds = [_so_far(record.stages) for record in entry.records]
            families, mean = list(seeds[0]), [statistics.fmean(at) for at in zip(*(s.values() for s in seeds), strict=True)]
            axes.step(range(len(mean)), mean, where="mid", color=ink, lw=1.6)
            lines[row] = axes.plot(range(len(mean)), mean, mark, color=ink, ms=5)[0]
            axes.set_xticks(range(len(families)), families, rotation=40, ha="right", fontsize=8)
        axes.set_title(label(column), fontsize=10)
        axes.axhline(50, color="#94a3b8", lw=0.8, ls=":")
        axes.set_xlabel("family that has just been learnt", fontsize=9)
        axes.grid(axis="y", color="#e2e8f0", lw=0.6)
        _plain(axes)
    figure.axes[0].set_ylabel("accuracy on all families so far, %", fontsize=9)
    figure.axes[-1].legend(
        lines.values(), lines.keys(), fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5)
    )
    return figure


def _so_far(stages: Sequence[Row]) -> dict[str, float]:
    """For every family that is tested: the accuracy, just after it was learnt, on it and those before, in %."""
    tested = [stage for stage in stages if stage["family"] in stage["accuracy"]]
    known = [stage["family"] for stage in tested]
    return {
        stage["family"]: 100 * statistics.fmean(stage["accuracy"][family] for family in known[: number + 1])
        for number, stage in enumerate(tested)
    }


def _curve(comparison: Comparison) -> Figure:
    """Accuracy over the numbers in a memory, and over puzzles a second in training."""
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    by_numbers, by_speed = figure.subplots(1, 2, sharey=True)
    sizes: set[int] = set()
    for column, mark in zip(comparison.experiment.columns, _MARKS, strict=False):
        for row, ink in zip(comparison.experiment.rows, _INK, strict=False):
            entry = comparison.entry(row, column)
            if entry.here is None:
                continue
            told = {"color": ink, "marker": mark, "ms": 6, "capsize": 2, "ls": "none", "label": f"{row}, {column}"}
            numbers = memory_numbers(entry.place.cell.config)
            sizes.add(numbers)
            by_numbers.errorbar(numbers, entry.here, yerr=entry.spread, **told)
            by_speed.errorbar(float(_speed(entry).replace(",", "")), entry.here, yerr=entry.spread, **told)
    by_numbers.set_xscale("log", base=2)
    by_numbers.set_xticks(sorted(sizes), [f"{size:,}" for size in sorted(sizes)])
    by_numbers.set_xlabel("numbers in the memory", fontsize=9)
    by_speed.set_xlabel("training puzzles a second, one thread", fontsize=9)
    by_numbers.set_ylabel("accuracy, %", fontsize=9)
    for axes in (by_numbers, by_speed):
        axes.grid(axis="y", color="#e2e8f0", lw=0.6)
        _plain(axes)
    by_speed.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
