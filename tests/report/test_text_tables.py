"""Markdown and LaTeX show the numbers of the ledger."""

import re

import pytest

from fine.experiments import make_experiment
from fine.experiments.experiment import label
from fine.report import latex_table, markdown_table
from fine.report.tables import column_groups
from support.reports import texts_of_experiment, texts_of_place

LATEX = {
    r"$\pm$": "±",
    "$-$": "−",
    r"$\cdot$": "·",
    r"$\approx$": "≈",
    r"$^\circ$": "°",
    r"\%": "%",
    r"\textbf{": "**",
    "}": "**",
}


def markdown_lines(text: str) -> list[list[str]]:
    """The body of a table as texts."""
    lines = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines[1:]]


def latex_lines(text: str) -> list[list[str]]:
    """The body of a table as texts."""
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    lines = [line.removesuffix(r" \\") for line in body.splitlines() if line.endswith(r"\\")]
    markup = "|".join(map(re.escape, LATEX))
    plain = [re.sub(markup, lambda found: LATEX[found[0]], line) for line in lines]
    return [[cell.strip() for cell in line.split(" & ")] for line in plain]


@pytest.mark.parametrize(
    ("write", "read"), [(markdown_table, markdown_lines), (latex_table, latex_lines)]
)
def test_tables_of_text_show_the_ledgers_numbers(write, read, comparisons, raw):
    for comparison in comparisons:
        text, experiment, row = write(comparison), comparison.experiment, ""
        places = 0
        for name, field, *numbers in read(text):
            row = next((each for each in experiment.rows if label(each) == name), row)
            for column, shown in zip(experiment.columns, numbers, strict=True):
                place = experiment.place(row, column)
                texts = texts_of_place(raw.get(place.cell.group, []), place.paper)
                spread = {"here": "spread", "paper": "paper spread"}.get(field, "")
                expected = " ± ".join(filter(None, (texts.get(field), texts.get(spread))))
                if field == "here" and not expected:
                    assert shown in ("·", "failed")
                else:
                    assert shown.replace("**", "") == expected
                places += field == "here"
        assert places == len(experiment.places)
        facts = texts_of_experiment(comparison, raw)
        for name in ("filled", "protocol", "seeds", "test puzzles", "minutes"):
            assert f"{name}: {facts[name]}" in text


def test_latex_is_a_whole_table(comparisons):
    for comparison in comparisons:
        text = latex_table(comparison)
        for environment in ("table", "tabular"):
            assert text.count(rf"\begin{{{environment}}}") == 1
            assert text.count(rf"\end{{{environment}}}") == 1


def test_columns_of_several_images_are_headed_by_them():
    groups = dict(column_groups(make_experiment("readings")))
    assert groups["CIFAR-100"] == ["rotation", "reflection", "black-white"]
