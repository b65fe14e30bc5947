"""A table as LaTeX, for `\\input`; it needs the package booktabs."""

from fine.experiments.catalogue import EXPERIMENTS
from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.report.facts import Facts, capitalised, how_to_read
from fine.report.tables import Number, column_groups, table_lines

_MARKUP = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
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
    experiment = comparison.experiment
    groups = column_groups(experiment)
    heads = [name for _, names in groups for name in names]
    rows = [_row([experiment.row_title, "", *map(latex_text, heads)]), r"\midrule"]
    if any(group for group, _ in groups):
        spans = [
            rf"\multicolumn{{{len(names)}}}{{c}}{{{latex_text(group)}}}" for group, names in groups
        ]
        rows.insert(0, _row(["", "", *spans]))
    for place, group in enumerate(table_lines(comparison)):
        if place:
            rows.append(r"\addlinespace")
        for number, line in enumerate(group):
            name = latex_text(label(line.row)) if number == 0 else ""
            rows.append(_row([name, line.field, *map(_shown, line.numbers)]))
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{latex_text(_caption(comparison))}}}",
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


def _caption(comparison: Comparison) -> str:
    facts = Facts(comparison)
    title = capitalised(EXPERIMENTS[comparison.experiment.name][0])
    made = "; ".join(f"{name}: {text}" for name, text in facts.named.items())
    failed = [
        f"Failed: {label(entry.place.row)}, {label(entry.place.column)}: {error}."
        for entry, error in facts.failures
    ]
    return " ".join([f"{title}.", how_to_read(comparison), f"{made}.", *failed])


def latex_text(text: str) -> str:
    """A text on one line, with everything escaped that LaTeX would take for markup."""
    return " ".join(text.split()).translate(_MARKUP)


def _shown(number: Number) -> str:
    if number.best:
        return rf"\textbf{{{latex_text(number.text)}}} $\pm$ {number.spread}"
    return latex_text(str(number))


def _row(texts: list[str]) -> str:
    return " & ".join(texts) + r" \\"
