"""A table as Markdown."""

from fine.experiments.catalogue import EXPERIMENTS
from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.experiments.text_tables import markdown_rows, markdown_text
from fine.report.facts import Facts, how_to_read
from fine.report.tables import Number, column_groups, table_lines


def markdown_table(comparison: Comparison) -> str:
    """A page with the table, how to read it and how it was made."""
    experiment, facts = comparison.experiment, Facts(comparison)
    columns = [
        markdown_text(f"{group} {name}")
        for group, names in column_groups(experiment)
        for name in names
    ]
    rows = []
    for group in table_lines(comparison):
        for number, line in enumerate(group):
            name = markdown_text(label(line.row)) if number == 0 else ""
            rows.append([name, line.field, *map(_shown, line.numbers)])
    made = [f"- {name}: {markdown_text(text)}" for name, text in facts.named.items()]
    for entry, error in facts.failures:
        place = f"{label(entry.place.row)}, {label(entry.place.column)}"
        made.append(f"- failed: {markdown_text(f'{place}: {error}')}")
    title = f"# {experiment.name}: {EXPERIMENTS[experiment.name][0]}"
    table = markdown_rows([experiment.row_title, "", *columns], rows, names=2)
    return "\n".join([title, "", *table, "", how_to_read(comparison), "", *made]) + "\n"


def _shown(number: Number) -> str:
    return f"**{number.text}** ± {number.spread}" if number.best else str(number)
