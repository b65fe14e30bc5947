"""A table as LaTeX, for `\\input`; it needs the package booktabs."""

from fine.experiments.catalogue import EXPERIMENTS
from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.report.facts import Facts, reading
from fine.report.tables import Number, column_groups, table_lines

_SPECIAL = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"}
    | {
        "±": r"$\pm$",
        "−": "$-$",
        "·": r"$\cdot$",
        "≈": r"$\approx$",
        "×": r"$\times$",
        "→": r"$\to$",
        "–": "--",
        "°": r"$^\circ$",
    }
)


def latex_table(comparison: Comparison) -> str:
    """The table with its caption, which also says how it was made."""
    experiment, facts = comparison.experiment, Facts(comparison)
    groups = column_groups(experiment)
    heads = [name for _, names in groups for name in names]
    rows = [_row([experiment.row_title, "", *map(plain, heads)]), r"\midrule"]
    if any(group for group, _ in groups):
        spans = [rf"\multicolumn{{{len(names)}}}{{c}}{{{plain(group)}}}" for group, names in groups]
        rows.insert(0, _row(["", "", *spans]))
    for place, group in enumerate(table_lines(comparison)):
        if place:
            rows.append(r"\addlinespace")
        for number, line in enumerate(group):
            rows.append(_row([plain(label(line.row)) if number == 0 else "", line.field, *map(_shown, line.numbers)]))
    made = "; ".join(f"{name}: {text}" for name, text in facts.named.items())
    failed = [f"Failed: {label(entry.place.row)}, {label(entry.place.column)}: {error}." for entry, error in facts.failures]
    caption = " ".join([f"{EXPERIMENTS[experiment.name][0]}.", *reading(comparison), f"{made}.", *failed])
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{plain(caption)}}}",
            rf"\label{{tab:{experiment.name}}}",
            rf"\begin{{tabular}}{{ll{'r' * len(heads)}}}",
            r"\toprule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def plain(text: str) -> str:
    """A text with what LaTeX would take for markup escaped, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)


def _shown(number: Number) -> str:
    if number.best:
        return rf"\textbf{{{plain(number.text)}}} $\pm$ {number.spread}"
    return plain(str(number))


def _row(texts: list[str]) -> str:
    return " & ".join(texts) + r" \\"
