"""Tables show the paper beside us, and what is missing."""

import pytest

from fine.evaluation import wilson
from fine.experiments import compare, make_experiment, markdown
from fine.experiments.records import failure
from fine.experiments.text_tables import markdown_rows, markdown_text, span
from support.experiments import recorded


def test_a_table_shows_the_paper_beside_us_and_what_is_missing(ledger):
    experiment = make_experiment("table1")
    cell = experiment.place("esbn", "rotation").cell
    ledger.write(recorded(cell, 0.75))
    low, high = wilson(300, 400)
    entry = compare(experiment, ledger).entry("esbn", "rotation")
    assert entry.here == 75 and entry.spread == pytest.approx(50 * (high - low))
    assert entry.difference == pytest.approx(75 - 58.6)
    ledger.write(recorded(cell.with_seed(1), 0.77))
    ledger.write(failure(experiment.place("esbn", "shear").cell, "no memory"))
    page = markdown(compare(experiment, ledger))
    # The deviation of 75 and 77 about their mean of 76 is √2.
    row = "| ESBN | 79.8 ± 0.6 / · | 58.6 ± 1.0 / 76.0 ± 1.4 | 50.1 ± 0.3 / · | 84.5 / failed |"
    assert row in page
    assert "| FINE (ours) | – / · |" in page
    for words in ("1 of 90 places", "no memory", "quick, 6 epochs", "abc1234"):
        assert words in page
    assert page.count("·") == 90 - 2 + 1  # and once to say what it means


def test_a_table_over_other_images_shows_ours_alone(ledger):
    experiment = make_experiment("table4", images="glyphs")
    ledger.write(recorded(experiment.place("fine", "glyphs-shear").cell, 0.5))
    page = markdown(compare(experiment, ledger))
    assert "| FINE (ours) | · | · | 50.0 ± 4.9 |" in page and "/" not in page


def test_entries_are_found_by_row_and_column(ledger):
    comparison = compare(make_experiment("table3"), ledger)
    for column in comparison.experiment.columns:
        rows = tuple(entry.place.row for entry in comparison.column(column))
        assert rows == comparison.experiment.rows
    for row in comparison.experiment.rows:
        columns = tuple(entry.place.column for entry in comparison.row(row))
        assert columns == comparison.experiment.columns


def test_a_markdown_table_has_names_and_numbers():
    lines = markdown_rows(("model", "a", "b"), [("fine", "1", "2")])
    assert lines == ["| model | a | b |", "|---|--:|--:|", "| fine | 1 | 2 |"]
    assert markdown_rows(("a", "b"), [], names=2)[1] == "|---|---|"
    assert markdown_text("a|b\n*c*") == r"a\|b \*c\*"


@pytest.mark.parametrize(
    ("numbers", "text"), [([3], "3"), ([3, 3], "3"), ([2000, 1, 7], "1 to 2,000")]
)
def test_a_span_is_from_the_least_to_the_most(numbers, text):
    assert span(numbers) == text
