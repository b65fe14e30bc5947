"""What the results say, in at most ten lines, worked out from the ledger for the top of the page.

Each number carries its key and field like any other. A line whose results are missing is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.durations import show_minutes
from fine.experiments.experiment import label
from fine.experiments.paper import OTHER_TASKS
from fine.experiments.paper_tables import OUR_ROWS
from fine.report.facts import MISTAKES, cost, mistakes
from fine.report.glance import at_a_glance
from fine.report.markup import Content, Markup, block, element, lines
from fine.report.numbers import number, tenths
from fine.report.trends import trend

_TABLES = {"table1": "Omniglot", "table2": "CIFAR-100", "table4": "Rules never seen"}
"""The tables that findings are about, and what they are."""
_FIGURES: Mapping[str, Callable[..., Markup | None]] = {
    "table1": at_a_glance,
    "table4": at_a_glance,
    "figure-training-size": trend,
}


@dataclass(frozen=True)
class Beside:
    """Ours and the paper's best in one column, both in %."""

    ours: Entry
    best: Entry
    """The entry with the paper's best number."""

    @property
    def lead(self) -> float:
        """As the reader works it out from the two numbers that are shown."""
        assert self.ours.here is not None and self.best.paper is not None
        return float(tenths(self.ours.here)) - self.best.paper.mean


def opening(comparisons: Sequence[Comparison]) -> Markup:
    """Findings and three figures; nothing for an empty ledger."""
    found = [item for item in _findings(comparisons) if item is not None]
    parts: list[Content] = []
    if found:
        parts.append(element("h2", "Findings", id="findings-title"))
        parts.append(
            block("ol", *(element("li", element("p", item)) for item in found), class_="findings")
        )
    by_name = {comparison.experiment.name: comparison for comparison in comparisons}
    for name, draw in _FIGURES.items():
        if name in by_name and by_name[name].records:
            heading = f"{_TABLES.get(name, 'Training puzzles')} ({name})"
            if (figure := draw(by_name[name], heading=heading)) is not None:
                parts.append(figure)
    return lines(*parts)


def _findings(comparisons: Sequence[Comparison]) -> list[Markup | None]:
    by_name = {comparison.experiment.name: comparison for comparison in comparisons}
    tables = [by_name[name] for name in _TABLES if name in by_name]
    found = [_against_paper(table) for table in tables]
    found += [_where_it_falls_short(tables), _paper_models_here(tables), _hardest(tables)]
    if "table1" in by_name:
        found += [_what_goes_wrong(by_name["table1"]), _how_long(by_name["table1"])]
    if "figure-training-size" in by_name:
        found.append(_with_more_puzzles(by_name["figure-training-size"]))
    found.append(_how_much(comparisons))
    return found


def our_row(comparison: Comparison) -> str:
    """The row of a table that speaks for us: the last of ours that was run in all columns."""
    rows = [row for row in OUR_ROWS if row in comparison.experiment.rows]
    full = [row for row in rows if all(entry.records for entry in comparison.row(row))]
    return (full or rows[:1])[-1]


def beside_paper(comparison: Comparison) -> list[Beside]:
    """Ours beside the paper's best, for every column that has both."""
    pairs, row = [], our_row(comparison)
    for column in comparison.experiment.columns:
        entries = comparison.column(column)
        ours = [entry for entry in entries if entry.place.row == row and entry.records]
        quoted = [entry for entry in entries if entry.paper is not None]
        if ours and quoted:
            best = max(quoted, key=lambda entry: entry.paper.mean if entry.paper else 0.0)
            pairs.append(Beside(ours[0], best))
    return pairs


def _against_paper(comparison: Comparison) -> Markup | None:
    pairs = beside_paper(comparison)
    if not pairs:
        return None
    name = comparison.experiment.name
    above = sum(pair.lead > 0 for pair in pairs)
    most = max(_surely_the_same(pairs) or pairs, key=lambda pair: pair.lead)
    return lines(
        element("b", f"{_TABLES[name]}."),
        _text(
            "Ours is above the best number of the paper in ",
            number(f"{above} of {len(pairs)}", name, "columns above"),
            " columns; the largest lead is on ",
            _place(most.ours),
            ": ",
            _number(most.ours, "here"),
            " beside ",
            _number(most.best, "paper"),
            ".",
            _reservation(pairs),
        ),
    )


def _surely_the_same(pairs: Sequence[Beside]) -> list[Beside]:
    return [pair for pair in pairs if pair.ours.place.column not in OTHER_TASKS]


def _reservation(pairs: Sequence[Beside]) -> str:
    """Columns in which the paper's task may be another one, so that ours is not simply better."""
    columns = [pair.ours.place.column for pair in pairs]
    doubtful = [label(column) for column in columns if column in OTHER_TASKS]
    if not doubtful:
        return ""
    return (
        f" In {len(doubtful)} of the columns ({', '.join(doubtful)}) its task may be another one."
    )


def _where_it_falls_short(tables: Sequence[Comparison]) -> Markup | None:
    short = [pair for table in tables for pair in beside_paper(table) if pair.lead < 0]
    if not short:
        return None
    parts: list[Content] = [element("b", "Short of it."), " Below the best of the paper: "]
    for place, pair in enumerate(sorted(short, key=lambda pair: pair.lead)[:3]):
        table = next(t.experiment.name for t in tables if pair.ours in t.entries)
        parts += ["; " if place else "", f"{_TABLES[table]}, ", _place(pair.ours), " "]
        parts += [_number(pair.ours, "here"), " beside ", _number(pair.best, "paper")]
    return _text(*parts, ".")


def _paper_models_here(tables: Sequence[Comparison]) -> Markup | None:
    """How the models of the paper do here, as a check of the reproduction."""
    both = [
        entry
        for table in tables
        for entry in table.entries
        if entry.records and entry.paper is not None
    ]
    if not both:
        return None
    above = sum(entry.difference is not None and entry.difference >= 0 for entry in both)
    return _text(
        element("b", "The paper's own models"),
        ", trained again here for fewer epochs, reach its numbers or more in ",
        number(f"{above} of {len(both)}", "tables", "reached"),
        " places of these tables.",
    )


def _hardest(tables: Sequence[Comparison]) -> Markup | None:
    ours = [
        (entry.here, table, entry)
        for table in tables
        for entry in table.row(our_row(table))
        if entry.here is not None
    ]
    if not ours:
        return None
    _, table, entry = min(ours, key=lambda each: each[0])
    return _text(
        element("b", "Most left to learn: "),
        f"{_TABLES[table.experiment.name]}, ",
        _place(entry),
        ", with ",
        _number(entry, "here"),
        ". Guessing gives 25 %, the right object alone 50 %.",
    )


def _what_goes_wrong(comparison: Comparison) -> Markup | None:
    entries = [e for e in comparison.row(our_row(comparison)) if e.records]
    if not entries:
        return None
    entry = max(entries, key=lambda each: sum(mistakes(each).values()))
    shares = mistakes(entry)
    parts: list[Content] = [
        element("b", "Mistakes"),
        f" on {_TABLES[comparison.experiment.name]}, ",
        _place(entry),
        ": ",
    ]
    for place, kind in enumerate(MISTAKES):
        shown = number(tenths(shares[kind]), entry.place.cell.group, kind)
        parts += [", " if place else "", shown, f" % {kind}"]
    return _text(*parts, ".")


def _how_long(comparison: Comparison) -> Markup | None:
    entries = [e for e in comparison.row(our_row(comparison)) if e.records]
    if not entries:
        return None
    longest = max(entries, key=cost)
    minutes = number(show_minutes(cost(longest)), longest.place.cell.group, "minutes")
    return _text(
        element("b", "Time."), " The longest of our trainings on Omniglot took ", minutes,
        " minutes of one thread (", _place(longest), ").",
    )  # fmt: skip


def _with_more_puzzles(comparison: Comparison) -> Markup | None:
    entries = [e for e in comparison.row(our_row(comparison)) if e.records]
    if len(entries) < 2:
        return None
    few, many = entries[0], entries[-1]
    return _text(
        element("b", "Training puzzles."), f" With {label(few.place.column)} of them ours has ",
        _number(few, "here"), f", with {label(many.place.column)} ", _number(many, "here"), ".",
    )  # fmt: skip


def _how_much(comparisons: Sequence[Comparison]) -> Markup | None:
    entries = [entry for comparison in comparisons for entry in comparison.entries]
    filled = sum(bool(entry.records) for entry in entries)
    if not filled:
        return None
    return _text(
        element("b", "How much is there: "),
        number(f"{filled:,} of {len(entries):,}", "all", "filled"),
        " places of all tables and figures have a result; the others are left open.",
    )


def _number(entry: Entry, field: str) -> Markup:
    if field == "paper":
        assert entry.paper is not None
        return number(tenths(entry.paper.mean), entry.place.cell.group, "paper")
    assert entry.here is not None
    return number(tenths(entry.here), entry.place.cell.group, "here")


def _place(entry: Entry) -> Markup:
    return element("i", label(entry.place.column))


def _text(*parts: Content) -> Markup:
    return Markup().join(parts)
