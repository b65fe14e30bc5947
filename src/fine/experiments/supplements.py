"""What `continual` and `memory` show besides accuracy: a second table and a figure for each.

further_table(compare(make_experiment("continual"), ledger))       # Markdown
draw_figure(compare(make_experiment("memory"), ledger), Path("results/memory.png"))
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fine.continual import Figures, figures
from fine.experiments.comparison import MISSING, Comparison, Entry
from fine.experiments.durations import show_minutes
from fine.experiments.estimates import speed
from fine.experiments.experiment import label
from fine.experiments.extensions import JOINT
from fine.experiments.text_tables import markdown_rows
from fine.io.files import written_whole
from fine.training.run import RunConfig

_COLOURS = ("#c2410c", "#1d4ed8", "#0f766e", "#7c3aed", "#64748b", "#a16207", "#be185d")
_MARKERS = "osD^vPX"


def further_table(comparison: Comparison) -> str:
    """The second table of an experiment that has one, as Markdown; nothing for the others."""
    tables = {"continual": _continual_table, "memory": _memory_table}
    make = tables.get(comparison.experiment.name)
    return f"\n{make(comparison)}" if make else ""


def draw_figure(comparison: Comparison, path: Path) -> bool:
    """Draw the figure of an experiment that has one and some results; says whether it did."""
    drawings: dict[str, Callable[[Comparison], Figure]] = {
        "continual": _continual_figure,
        "memory": _memory_figure,
    }
    draw = drawings.get(comparison.experiment.name)
    if draw is None or not comparison.records:
        return False
    with written_whole(path) as temporary:
        draw(comparison).savefig(temporary, format="png", dpi=160)
    return True


def memory_numbers(config: RunConfig) -> int:
    """How many numbers the memories of a run's model have."""
    named = config.build().named_parameters()
    return sum(p.numel() for name, p in named if name.startswith("backbone.memories."))


def _continual_figures(entry: Entry) -> list[Figures]:
    """The figures of continual learning, for every seed; none where all was learned together."""
    return [figures(record.stages) for record in entry.records if record.stages]


def _continual_table(comparison: Comparison) -> str:
    head = ("images", "strategy", "average", "below joint", "forgetting", "forward transfer")
    rows = []
    for column in comparison.experiment.columns:
        joint = comparison.entry(JOINT, column).here
        for entry in comparison.column(column):
            if entry.here is None:
                continue
            found = _continual_figures(entry)
            below = f"{joint - entry.here:.1f}" if joint is not None else MISSING
            forgetting = _points([one.forgetting for one in found])
            transfer = _points([one.transfer for one in found])
            minutes = show_minutes(statistics.fmean(record.minutes for record in entry.records))
            names = (label(column), entry.place.row)
            numbers = (str(entry), below, forgetting, transfer, str(len(entry.records)), minutes)
            rows.append((*names, *numbers))
    notes = (
        "Average: accuracy over the test puzzles of all families at the end. Forgetting: points "
        "lost since a family was known best. Forward transfer: points above 50, which ignoring the "
        "rule gives, just before a family is learned."
    )
    lines = markdown_rows((*head, "seeds", "minutes"), rows, names=2)
    return "\n".join([*lines, "", notes]) + "\n"


def _points(shares: list[float]) -> str:
    if not shares:
        return "–"
    spread = f" ± {100 * statistics.stdev(shares):.1f}" if len(shares) > 1 else ""
    return f"{100 * statistics.fmean(shares):.1f}{spread}"


def _memory_table(comparison: Comparison) -> str:
    head = ("embedding", "slots", "numbers in the memory", "of full", "accuracy")
    rows = []
    for column in comparison.experiment.columns:
        full = memory_numbers(comparison.entry("full", column).place.cell.config)
        for entry in comparison.column(column):
            numbers = memory_numbers(entry.place.cell.config)
            puzzles = _speed(entry)
            trained = MISSING if puzzles is None else f"{puzzles:,.0f}"
            share = f"{numbers / full:.0%}"
            rows.append((column, entry.place.row, f"{numbers:,}", share, str(entry), trained))
    return "\n".join(markdown_rows((*head, "training puzzles/s"), rows, names=2)) + "\n"


def _speed(entry: Entry) -> float | None:
    """Training puzzles per second; None if no run was trained for it."""
    speeds = [speed(record) for record in entry.records if record.minutes]
    return statistics.median(speeds) if speeds else None


def _continual_figure(comparison: Comparison) -> Figure:
    """Mean accuracy over the families so far; the dotted line is what ignoring the rule gives."""
    experiment = comparison.experiment
    staged = {e.place.column for e in comparison.entries if _continual_figures(e)}
    columns = [column for column in experiment.columns if column in staged]
    columns = columns or [experiment.columns[0]]
    figure = Figure(figsize=(5.2 * len(columns) + 1.6, 4.2), layout="constrained")
    panels = figure.subplots(1, len(columns), squeeze=False, sharey=True)[0]
    lines: dict[str, Artist] = {}
    for axes, column in zip(panels, columns, strict=True):
        entries = comparison.column(column)
        for entry, colour, marker in zip(entries, _COLOURS, _MARKERS, strict=False):
            if entry.here is None:
                continue
            row = entry.place.row
            if not entry.records[0].stages:
                ceiling = axes.axhline(entry.here, color="#334155", lw=1, ls="--")
                lines[f"{row} (ceiling)"] = ceiling
                continue
            families, mean = _so_far(entry)
            places = range(len(mean))
            axes.step(places, mean, where="mid", color=colour, lw=1.6)
            lines[row] = axes.plot(places, mean, marker, color=colour, ms=5)[0]
            axes.set_xticks(places, families, rotation=40, ha="right", fontsize=8)
        axes.set_title(label(column), fontsize=10)
        axes.axhline(50, color="#94a3b8", lw=0.8, ls=":")
        axes.set_xlabel("family that has just been learned", fontsize=9)
        _tidy(axes)
    panels[0].set_ylabel("accuracy on all families so far, %", fontsize=9)
    _legend(panels[-1], lines, fontsize=8)
    return figure


def _so_far(entry: Entry) -> tuple[list[str], list[float]]:
    """The families in order, and the accuracy in % on all of them up to each, over seeds."""
    seeds = [_learned_so_far(record.stages) for record in entry.records]
    by_family = zip(*(seed.values() for seed in seeds), strict=True)
    return list(seeds[0]), [statistics.fmean(values) for values in by_family]


def _learned_so_far(stages: Sequence[dict[str, Any]]) -> dict[str, float]:
    """For every tested family: the accuracy in % on it and those before, once it is learned."""
    tested = [stage for stage in stages if stage["family"] in stage["accuracy"]]
    known = [stage["family"] for stage in tested]
    return {
        stage["family"]: 100
        * statistics.fmean(stage["accuracy"][family] for family in known[: number + 1])
        for number, stage in enumerate(tested)
    }


def _memory_figure(comparison: Comparison) -> Figure:
    """Accuracy over the numbers in a memory, and over training speed."""
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    by_numbers, by_speed = figure.subplots(1, 2, sharey=True)
    sizes: set[int] = set()
    for column, marker in zip(comparison.experiment.columns, _MARKERS, strict=False):
        for entry, colour in zip(comparison.column(column), _COLOURS, strict=False):
            if entry.here is None:
                continue
            style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 6, "capsize": 2}
            style |= {"ls": "none", "label": f"{entry.place.row}, {column}", "yerr": entry.spread}
            numbers, puzzles = memory_numbers(entry.place.cell.config), _speed(entry)
            sizes.add(numbers)
            by_numbers.errorbar(numbers, entry.here, **style)
            if puzzles is not None:
                by_speed.errorbar(puzzles, entry.here, **style)
    by_numbers.set_xscale("log", base=2)
    by_numbers.set_xticks(sorted(sizes), [f"{size:,}" for size in sorted(sizes)])
    by_numbers.set_xlabel("numbers in the memory", fontsize=9)
    by_speed.set_xlabel("training puzzles per second, one thread", fontsize=9)
    by_numbers.set_ylabel("accuracy, %", fontsize=9)
    for axes in (by_numbers, by_speed):
        _tidy(axes)
    handles, labels = by_numbers.get_legend_handles_labels()
    _legend(by_speed, dict(zip(labels, handles, strict=True)), fontsize=7)
    return figure


def _legend(axes: Axes, drawn: dict[str, Artist], *, fontsize: int) -> None:
    """The legend, to the right of everything."""
    axes.legend(
        drawn.values(),
        drawn.keys(),
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        fontsize=fontsize,
        frameon=False,
    )


def _tidy(axes: Axes) -> None:
    axes.grid(axis="y", color="#e2e8f0", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
