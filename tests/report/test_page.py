"""The page by itself: one file, the same bytes each time, escaped and accessible."""

import random
import re
from dataclasses import replace

import pytest

from fine.experiments import EXPERIMENTS, Ledger, compare, make_experiment
from fine.report import html_page, latex_table, markdown_table
from support.pages import read_page
from support.reports import random_record


@pytest.mark.slow
def test_the_same_ledger_makes_the_same_bytes(comparisons, ledger):
    again = [compare(make_experiment(name), Ledger(ledger.folder)) for name in EXPERIMENTS]
    text = html_page(comparisons)
    assert html_page(again) == text
    assert not any(entry.date[:10] in text for entry in ledger.entries())


@pytest.mark.slow
def test_the_page_needs_nothing_else(comparisons, page):
    text = html_page(comparisons)
    assert not re.search(r"https?:|url\(|@import|src=|<link|<script|<img", text)
    links = [node.attributes["href"] for node in page.all("a")]
    assert all(link.startswith("#") for link in links)
    ids = [node.attributes["id"] for node in page.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids)) and {link[1:] for link in links} <= set(ids)


def test_values_from_files_are_escaped(comparisons):
    assert "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;" in html_page(comparisons)
    failed = (each for each in comparisons if any(entry.failure for entry in each.entries))
    table = next(failed)
    markdown = r"\<script\>alert('1')\</script\> \| 100 % & $x\_1$ \\ \*so\*"
    latex = r"$<$script$>$alert('1')$<$/script$>$ | 100 \% \& \$x\_1\$ \textbackslash{} *so*"
    assert markdown in markdown_table(table)
    assert latex in latex_table(table)


def test_the_page_can_be_heard(page):
    assert page.first("html").attributes["lang"] == "en"
    for node in page.all("th"):
        assert node.attributes["scope"] in ("row", "col", "rowgroup", "colgroup")
    for node in page.all("svg"):
        drawn = node.attributes
        assert "aria-hidden" in drawn or (drawn["role"] == "img" and drawn["aria-label"])
    for node in page.all("table"):
        assert next(node.all("caption"), None) or {"strip", "runs"} & set(node.classes)


def test_an_empty_ledger_makes_a_page_of_missing_places(tmp_path):
    comparisons = [compare(make_experiment(name), Ledger(tmp_path)) for name in EXPERIMENTS]
    empty = read_page(html_page(comparisons))
    fields = {node.attributes.get("data-field") for node in empty.all()} - {None}
    assert fields == {"filled", "paper", "paper spread"}
    missing = sum("missing" in node.classes for node in empty.all("td"))
    assert missing == sum(len(comparison.entries) for comparison in comparisons)


def test_other_images_have_no_paper_and_no_difference(tmp_path):
    experiment = make_experiment("table4", images="glyphs")
    ledger = Ledger(tmp_path)
    ledger.write(random_record(experiment.places[0].cell, random.Random(0)))
    made = read_page(html_page([compare(experiment, ledger)]))
    fields = {node.attributes.get("data-field") for node in made.all()}
    assert "here" in fields and not {"paper", "difference"} & fields


def test_a_report_of_another_protocol_has_none_of_these_results(ledger):
    quick = make_experiment("table1").places[0].cell.config.training
    other = compare(make_experiment("table1", training=replace(quick, epochs=7)), ledger)
    assert not other.records and "·" in markdown_table(other)
