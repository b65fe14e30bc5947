"""Every number on the page is the ledger's, and what is missing is missing."""

import re
import statistics

import pytest

from fine.experiments import CONTRADICTIONS
from fine.experiments.experiment import label
from support.pages import numbers_table, section
from support.reports import (
    KINDS,
    protocol,
    texts_of_experiment,
    texts_of_map,
    texts_of_place,
    texts_of_record,
)

MAPS = ("right", "apart")


@pytest.mark.slow
def test_every_number_is_the_ledgers(page, comparisons, raw):
    seen: dict[str, int] = {}
    for comparison in comparisons:
        expected = {comparison.experiment.name: texts_of_experiment(comparison, raw)}
        for place in comparison.experiment.places:
            records = raw.get(place.cell.group, [])
            expected[place.cell.group] = texts_of_place(records, place.paper)
            expected |= {content["key"]: texts_of_record(content) for content in records}
        for node in section(page, comparison.experiment.name).all():
            name = node.attributes.get("data-field", "")
            if name.partition(" ")[0] in MAPS or "data-key" not in node.attributes:
                continue  # maps have a test of their own
            texts = expected[node.attributes["data-key"]]
            text = texts[name]
            if node.tag == "g":  # a mark of a plot has its number at the end of its title
                title = node.first("title").text
                assert title.endswith(f": {texts['quoted'] if name == 'paper' else text}")
                assert name != "cost" or f" in {texts['minutes']} minutes: " in title
            else:
                assert node.text == text, (node.attributes, node.text, text)
            seen[name] = seen.get(name, 0) + 1
    content = next(iter(raw.values()))[0]
    of_places = {"here", "spread", "paper", "paper spread", "difference", "curve", "cost", "wrong"}
    facts = texts_of_experiment(comparisons[-1], raw)
    assert set(seen) == {*facts, *texts_of_record(content), *KINDS[1:], *of_places}
    assert sum(seen.values()) > 3_000


def test_no_number_stands_outside_of_what_is_checked(page, comparisons):
    # Names of rules, ticks of axes and sentences have digits too; results are in none of them.
    prose_tags = ("th", "h2", "h3", "h4", "p", "code", "caption", "title", "style", "a", "b", "i")
    prose = {*CONTRADICTIONS}
    for comparison in comparisons:
        prose |= set(map(label, (*comparison.experiment.columns, *comparison.experiment.rows)))
    for node in page.all():
        for child in node.children:
            if not isinstance(child, str) or not re.search(r"\d", child) or child in prose:
                continue
            around = list(node.above())
            checked = any("data-key" in each.attributes for each in around)
            is_prose = any(each.tag in prose_tags for each in around)
            is_prose |= bool({"tick", "letter"} & set(node.classes))
            is_prose |= bool(
                {"failed", "text"} & {name for each in around for name in each.classes}
            )
            assert checked or is_prose, child


@pytest.mark.slow
def test_a_table_shows_what_the_ledger_has_and_no_more(page, comparisons, raw):
    for comparison in comparisons:
        groups = [place.cell.group for place in comparison.experiment.places]
        table = numbers_table(page, comparison.experiment.name)
        results = (node for node in table.all() if node.attributes.get("data-field") == "here")
        shown = [node.attributes["data-key"] for node in results]
        assert sorted(shown) == sorted(group for group in groups if group in raw)
        missing = [node for node in table.all("td") if "missing" in node.classes]
        assert len(missing) == len(groups) - len(shown)
        assert {node.text for node in missing} <= {"·", "failed"}


@pytest.mark.slow
def test_a_number_stands_in_its_row_and_column(page, comparisons):
    for comparison in comparisons:
        experiment = comparison.experiment
        bodies = list(numbers_table(page, experiment.name).all("tbody"))
        assert len(bodies) == len(experiment.rows)
        for row, body in zip(experiment.rows, bodies, strict=True):
            assert body.first("th").text == label(row)
            for line in body.all("tr"):
                for column, cell in zip(experiment.columns, line.all("td"), strict=True):
                    key = experiment.place(row, column).cell.group
                    keys = {node.attributes.get("data-key", key) for node in cell.all("span")}
                    assert keys <= {key}


@pytest.mark.slow
def test_the_best_of_a_column_is_bold(page, comparisons):
    for comparison in comparisons:
        table = numbers_table(page, comparison.experiment.name)
        bold = [node.text for node in table.all("b")]
        expected = []
        for column in comparison.experiment.columns:
            entries = [entry for entry in comparison.column(column) if entry.records]
            shown = [f"{entry.here:.1f}" for entry in entries]
            if len(shown) > 1 and not comparison.experiment.probed:
                expected += [text for text in shown if text == max(shown, key=float)]
        assert sorted(bold) == sorted(expected)


def test_a_cell_says_how_it_was_made(page, raw):
    count = 0
    for node in page.all("td"):
        if "title" not in node.attributes or "missing" in node.classes:
            continue
        records = raw[node.first("span").attributes["data-key"]]
        seeds = "1 seed" if len(records) == 1 else f"{len(records)} seeds"
        training, task = records[0]["training"], records[0]["task"]
        commits = ", ".join(sorted({content["commit"] for content in records}))
        spent = statistics.mean(content["minutes"] for content in records)
        assert node.attributes["title"] == (
            f"{seeds}, {protocol(records[0])}, {training['epochs']} epochs, "
            f"{task['test_count']:,} test puzzles, {spent:,.1f} min a run, commit {commits}"
        )
        count += 1
    assert count > 100


@pytest.mark.slow
def test_the_table_of_all_runs_names_what_was_measured(page, comparisons):
    for comparison in comparisons:
        found = section(page, comparison.experiment.name).all("table")
        (table,) = (node for node in found if "runs" in node.classes)
        heads = [node.text for node in table.first("tr").all("th")]
        assert heads[3] == comparison.experiment.metric
        assert (heads[3] == "accuracy") == comparison.experiment.measured.startswith(
            "Test accuracy"
        )


def test_maps_show_every_rule(page, raw):
    count = 0
    for node in page.all("table", "tr"):
        what, _, family = node.attributes.get("data-field", "").partition(" ")
        if what not in MAPS:
            continue
        expected, shown = texts_of_map(raw[node.attributes["data-key"]], family, what), {}
        if node.tag == "tr":  # a strip: the angles are in the first row of the table
            heads = next(node.parent.all("tr")).all("th")
            for head, cell in zip(heads, node.all("td"), strict=True):
                shown[(float(head.text.rstrip("°")),)] = cell.text
        else:
            first, *rows = node.all("tr")
            across = [float(head.text) for head in first.all("th")]
            for row in rows:
                down = float(row.first("th").text)
                for at, cell in zip(across, row.all("td"), strict=True):
                    shown[at, down] = cell.text
        assert {place: text for place, text in shown.items() if text} == expected
        count += len(expected)
    assert count > 3_000
