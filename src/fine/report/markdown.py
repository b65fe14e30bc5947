"""A table as Markdown."""

from fine.experiments.catalogue import EXPERIMENTS
from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.report.facts import Facts, reading
from fine.report.tables import Number, column_groups, table_lines

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"})


def markdown_table(comparison: Comparison) -> str:
    """A page with the table, how to read it and how it was made."""
    experiment, facts = comparison.experiment, Facts(comparison)
    heads = [" ".join(filter(None, (group, name))) for group, names in column_groups(experiment) for name in names]
    rows = [_row([experiment.row_title, "", *map(plain, heads)]), "|---|---|" + "--:|" * len(heads)]
    for group in table_lines(comparison):
        for number, line in enumerate(group):
            name = plain(label(line.row)) if number == 0 else ""
            rows.append(_row([name, line.field, *map(_shown, line.numbers)]))
    made = [f"- {name}: {plain(text)}" for name, text in facts.named.items()]
    failed = [
        f"- failed: {plain(label(entry.place.row))}, {plain(label(entry.place.column))}: {plain(error)}"
        for entry, error in facts.failures
    ]
    title = f"# {experiment.name}: {EXPERIMENTS[experiment.name][0]}"
    return "\n".join([title, "", *rows, "", " ".join(reading(comparison)), "", *made, *failed]) + "\n"


def plain(text: str) -> str:
    """A text with what Markdown would take for markup escaped, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)


def _shown(number: Number) -> str:
    return f"**{number.text}** ± {number.spread}" if number.best else str(number)


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
