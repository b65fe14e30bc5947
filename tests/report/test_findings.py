"""The page opens with what the results say; each of its numbers is the ledger's."""

import random
import re

import pytest

from fine.experiments import EXPERIMENTS, Ledger, compare, make_experiment
from fine.report import html_page
from fine.report.findings import beside_paper
from support.pages import Node, read_page
from support.reports import random_record, texts_of_place


def findings(page: Node) -> list[Node]:
    lists = [node for node in page.all("ol") if "findings" in node.classes]
    return [item for node in lists for item in node.all("li")]


def test_the_page_opens_with_findings_three_figures_and_contents(page):
    header = page.first("header")
    assert 6 <= len(findings(page)) <= 10
    assert len(list(header.all("figure"))) == 3
    text = header.text
    assert text.index("Findings") < text.index("(table1)") < text.index("Contents")


def test_every_number_of_a_finding_is_the_ledgers(page, comparisons, raw):
    places = {p.cell.group: p for c in comparisons for p in c.experiment.places if p.paper}
    entries = {e.place.cell.group: e for c in comparisons for e in c.entries}
    checked = 0
    for item in findings(page):
        for node in item.all("span"):
            key, field = node.attributes["data-key"], node.attributes["data-field"]
            if key in entries:
                quoted = places[key].paper if key in places else None
                assert node.text == texts_of_place(raw.get(key, []), quoted)[field]
                checked += 1
    assert checked > 8


def test_columns_above_the_paper_are_counted(page, comparisons):
    for comparison in comparisons:
        name = comparison.experiment.name
        shown = [
            node.text
            for node in page.all("span")
            if node.attributes.get("data-field") == "columns above"
            and node.attributes["data-key"] == name
        ]
        if not shown:
            continue
        above = 0
        columns = [c for c in comparison.experiment.columns if comparison.entry("fine", c).records]
        for column in columns:
            best = max(entry.paper.mean for entry in comparison.column(column) if entry.paper)
            above += round(comparison.entry("fine", column).here, 1) > best
        assert shown == [f"{above} of {len(columns)}"]


def test_one_configuration_speaks_for_us_once_it_has_been_run_in_all_columns(tmp_path):
    experiment, ledger = make_experiment("table4"), Ledger(tmp_path)
    draw = random.Random(0)
    for column in experiment.columns:
        ledger.write(random_record(experiment.place("fine", column).cell, draw, accuracy=0.7))
    first, *others = experiment.columns
    for column in others:
        cell = experiment.place("fine-pyramid", column).cell
        ledger.write(random_record(cell, draw, accuracy=0.9))
    assert {pair.ours.here for pair in beside_paper(compare(experiment, ledger))} == {70.0}
    cell = experiment.place("fine-pyramid", first).cell
    ledger.write(random_record(cell, draw, accuracy=0.9))
    assert {pair.ours.here for pair in beside_paper(compare(experiment, ledger))} == {90.0}


def test_an_empty_ledger_has_no_findings(tmp_path):
    page = read_page(html_page([compare(make_experiment("table1"), Ledger(tmp_path))]))
    assert not findings(page) and not list(page.first("header").all("figure"))


def test_a_tie_is_not_above_the_paper(tmp_path):
    experiment, ledger = make_experiment("table2"), Ledger(tmp_path)
    cell = experiment.place("fine", "wave").cell  # the paper's best there is 98.3
    ledger.write(random_record(cell, random.Random(0), accuracy=0.983))
    comparison = compare(experiment, ledger)
    (pair,) = beside_paper(comparison)
    assert pair.lead == 0
    assert "0 of 1" in html_page([comparison])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_details_are_folded(name, tmp_path):
    experiment, ledger = make_experiment(name), Ledger(tmp_path)
    ledger.write(random_record(experiment.places[0].cell, random.Random(0)))
    text = html_page([compare(make_experiment("table1"), ledger), compare(experiment, ledger)])
    second = text[text.index(f'<section id="{name}"') :]
    for heading in ("Learning curves", "Mistakes", "Training time", "All runs, one by one"):
        for found in re.finditer(rf"<h3>{heading}</h3>", second):
            assert second[: found.start()].endswith("<summary>")
