"""Benchmarks on the page: every number is that of a record, beside what others reported."""

from dataclasses import replace

import pytest

from fine.benchmarks import BenchmarkRow
from fine.experiments.benchmark_ledger import benchmark_records
from fine.report import html_page, write_report
from fine.report.benchmarks import benchmark_section, benchmarks_markdown
from support.pages import read_page
from support.reports import HOSTILE

ROWS = [
    BenchmarkRow("Reflect", "", 100, 90, 85, 70, 1 / 3),
    BenchmarkRow("Counting", "", 200, 199, 200, 9, 1 / 3),
]


@pytest.fixture(scope="module")
def records():
    known = benchmark_records(ROWS, benchmark="kiva", data="KiVA", model="universal", weights="a")
    row = BenchmarkRow("", "", 3, 3, 2, 3, 0.25)
    own = benchmark_records([row], benchmark="folder", data=HOSTILE, model="mine", weights="b")
    return [*known, *own]


def test_every_number_is_that_of_its_record(records):
    section = read_page(str(benchmark_section(records)))
    shown = {
        (node.attributes["data-key"], node.attributes["data-field"]): node.text
        for node in section.all("span")
        if "data-key" in node.attributes
    }
    assert len(shown) == 6 * len(records)
    for record in records:
        low, high = record.interval
        expected = {
            "n": str(record.puzzles),
            "right": f"{100 * record.right / record.puzzles:.1f}",
            "interval": f"{100 * low:.1f} – {100 * high:.1f}",
            "network alone": f"{100 * record.right_alone / record.puzzles:.1f}",
            "chance": f"{100 * record.chance:.1f}",
            "commit": record.commit,
        }
        assert {name: shown[record.key, name] for name in expected} == expected


def test_what_others_reported_stands_beside_it(records):
    section = read_page(str(benchmark_section(records)))
    rows = [[cell.text for cell in row.all("th", "td")] for row in section.all("tr")]
    column = rows[0].index("GPT-4V")
    assert [row[column] for row in rows[1:]] == ["30 – 38", "not known", ""]
    assert "github.com/ey242/KiVA" in section.text
    assert rows[1][:3] == ["kiva", "Reflect", "universal"]


def test_what_was_reported_on_one_set_is_not_said_of_the_harder_one():
    harder = benchmark_records(ROWS, benchmark="kiva", data="KiVA-adults", model="a", weights="c")
    assert "GPT-4V" not in str(benchmark_section(harder))


def test_runs_of_other_seeds_are_told_apart(records):
    again = [
        replace(record, run={"training": {"seed": seed}})
        for record in records[:1]
        for seed in (0, 2)
    ]
    rows = benchmarks_markdown(again).splitlines()
    shown = [row.split("|")[3].strip() for row in rows if row.startswith("| kiva")]
    assert shown == ["universal", "universal, seed 2"]


def test_names_of_others_are_escaped(records):
    assert "<script" not in str(benchmark_section(records))
    text = benchmarks_markdown(records)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(records) and "<script" not in text.replace("\\<", "")


@pytest.mark.slow
def test_a_report_has_them_if_there_are_any(records, comparisons, tmp_path):
    page = html_page(comparisons[:1], benchmarks=records)
    assert 'href="#benchmarks"' in page and '<section id="benchmarks"' in page
    assert 'id="benchmarks"' not in html_page(comparisons[:1])
    folder = tmp_path / "tables"
    write_report(comparisons[:1], tmp_path / "report.html", folder, benchmarks=records)
    assert "Reflect" in (folder / "benchmarks.md").read_text(encoding="utf-8")
