"""The leaderboard as a page and as Markdown."""

import random
from dataclasses import replace

import pytest

from fine.experiments import make_experiment
from fine.experiments.leaderboard import leaderboard
from fine.report import html_page, write_report
from fine.report.leaderboard import leaderboard_markdown, leaderboard_page
from support.pages import read_page
from support.reports import HOSTILE, random_record


@pytest.fixture(scope="module")
def boards():
    places = make_experiment("table3").places
    records = [random_record(place.cell, random.Random(place.cell.key)) for place in places]
    return leaderboard([*records, replace(records[0], model=HOSTILE)], ("table3",))


def test_the_page_has_every_line_and_number(boards):
    text = leaderboard_page(boards)
    assert text == leaderboard_page(boards) and "<script" not in text
    assert read_page(text) is not None and 'href="report.html"' in text
    for line in boards[0].lines:
        assert line.training in text and f"<td>{line.mean:.1f}</td>" in text
        assert all(f"<td>{number:.1f}</td>" in text for number in line.accuracy.values())
    assert text.count("<tr") == 1 + len(boards[0].lines)


def test_the_markdown_has_the_same_rows(boards):
    rows = [row for row in leaderboard_markdown(boards).splitlines() if row.startswith("| ")]
    assert len(rows) == 1 + len(boards[0].lines) and len({row.count(" | ") for row in rows}) == 1
    best = boards[0].lines[0]
    assert rows[1].startswith("| 1 | ")
    assert f"| {best.mean:.1f} |" in rows[1] and rows[-1].startswith("|  | ")


def test_a_letter_stands_for_each_way_of_training(boards):
    first = boards[0].lines[0]
    twice = [replace(line, training="quick, 6 epochs") for line in (first, first)]
    board = replace(boards[0], lines=(*twice, replace(first, training="paper, 200 epochs")))
    page, text = leaderboard_page([board]), leaderboard_markdown([board])
    assert "<b>A</b> quick, 6 epochs" in page and "<b>B</b> paper, 200 epochs" in page
    assert page.count(">A</td>") == 2 and page.count(">B</td>") == 1
    assert "- A: quick, 6 epochs" in text and text.count("| A |") == 2 and text.count("| B |") == 1


def test_the_report_links_to_it(boards, tmp_path):
    assert "leaderboard.html" not in html_page(())
    written = write_report((), tmp_path / "report.html", tmp_path / "tables", boards)
    assert [path.name for path in written] == ["report.html", "leaderboard.html", "leaderboard.md"]
    assert 'href="leaderboard.html"' in written[0].read_text(encoding="utf-8")
