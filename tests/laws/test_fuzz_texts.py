"""Whatever a ledger, a curve or a text holds: a result or one clear line, within limits."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fine.experiments import Ledger, compare, make_experiment, markdown
from fine.experiments.durations import read_duration, show_duration
from fine.experiments.worker import read_curve
from fine.report import html_page
from fine.rules import rule_set
from support.fuzzing import TEXTS, a_result_or_one_line, damaged, spoilt

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    """The files of two seeds of a place of table 1: the page shows what both make together."""
    cell = make_experiment("table1").place("fine", "rotation").cell
    paths = [ROOT / f"results/ledger/{cell.with_seed(seed).key}.json" for seed in (0, 1)]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


@pytest.mark.slow
@given(st.data())
def test_ledgers(records, tmp_path_factory, data):
    ledger = Ledger(tmp_path_factory.getbasetemp() / "ledger")
    ledger.folder.mkdir(exist_ok=True)
    record, whole = records
    ledger.path(whole["key"]).write_text(json.dumps(whole), encoding="utf-8")
    path = ledger.path(record["key"])
    path.write_text(data.draw(spoilt(record)), encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        ledger.entries()
        comparison = compare(make_experiment("table1"), ledger)
        markdown(comparison)
        html_page([comparison])


CURVE = b"""epoch,loss,accuracy,rate,puzzles/s
1,0.5,0.25,0.002,100
2,0.4,0.5,0.001,100
"""


@given(damaged(CURVE))
@example(b"epoch,loss,accuracy\n1,0.5\n")  # a row without its last column
def test_learning_curves(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "metrics.csv"
    path.write_bytes(content)
    with a_result_or_one_line():
        read_curve(path)


PARTS = st.tuples(TEXTS | st.integers(0, 10**9).map(str), st.sampled_from("hms")).map("".join)


@given(TEXTS | st.lists(PARTS).map("".join))
@example("9" * 400 + "h")  # infinitely many seconds
@example("9" * 3000 + "h")  # an error that repeated all of it
def test_durations(text):
    with a_result_or_one_line():
        show_duration(read_duration(text))


WORDS = ["rotation", "swap", "affine", "all", "translation", ":seen", ":unseen", "", ":"]
RULES = st.lists(st.sampled_from(WORDS) | TEXTS)


@given(TEXTS | RULES.map("+".join) | RULES.map("".join))
def test_rule_sets(text):
    with a_result_or_one_line():
        assert len(rule_set(text)) >= 2
