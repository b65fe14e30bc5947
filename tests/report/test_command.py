"""`fine report` writes the page and the tables."""

import re

import pytest

from fine.experiments import EXPERIMENTS
from fine.report import write_report


@pytest.mark.slow
def test_everything_is_written(tmp_path, comparisons):
    page, tables = tmp_path / "a" / "report.html", tmp_path / "a" / "tables"
    written = write_report(comparisons[:2], page, tables)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "a/report.html",
        "a/tables/table1.md",
        "a/tables/table1.tex",
        "a/tables/table4.md",
        "a/tables/table4.tex",
    ]
    assert all(path.read_text(encoding="utf-8") for path in written)


@pytest.mark.slow
def test_the_command_writes_the_report(fine, ledger, tmp_path):
    code, out, _ = fine("report", "--results", ledger.folder.parent, "--out", tmp_path)
    assert code == 0 and "table1: " in out and "report.html" in out
    assert len(list((tmp_path / "tables").iterdir())) == 2 * len(EXPERIMENTS)
    assert not (ledger.folder.parent / "report.html").exists()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    names = re.findall(r'<section id="([\w-]+)"', page)
    tables = ["table1", "table2", "table3", "table4"]
    figures = ["figure-map", "figure-memories", "figure-training-size", "scaling"]
    assert names[:8] == tables + figures and set(names) == set(EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no ledger at"),
        (("tabel1",), "did you mean 'table1'?"),
        (("--protocol", "slow"), "unknown protocol 'slow'"),
    ],
)
def test_bad_input_is_one_clear_line(fine, arguments, words, tmp_path, ledger):
    results = ledger.folder.parent if arguments else tmp_path
    code, _, err = fine("report", *arguments, "--results", results)
    assert code == 2 and words in err.replace("\n", " ")
    assert not (results / "report.html").exists()
