"""The tables and pictures of `continual` and `memory` say what the ledger says."""

import pytest
from PIL import Image

from fine.evaluation import wilson
from fine.experiments import Ledger, compare, make_experiment
from fine.experiments.growth import draw_figure, further_table, memory_numbers
from fine.experiments.ledger import Epoch, record
from fine.rules import rule_set


def result(accuracy: float, **more: object) -> dict[str, object]:
    """What a run folder's result.json says."""
    versions = {"fine": "0.1.0", "torch": "2.13.0", "python": "3.11.7", "machine": "x86_64", "commit": "abc1234"}
    by_rule = {"family": "swap", "rule": "swap 0123", "puzzles": 400, "right": accuracy, "wrong rule": 1 - accuracy}
    return {
        "accuracy": accuracy,
        "interval": list(wilson(round(400 * accuracy), 400)),
        "mistakes": {"wrong rule": 1 - accuracy, "wrong object": 0.0, "both wrong": 0.0},
        "by_rule": [{**by_rule, "wrong object": 0.0, "both wrong": 0.0}],
        "minutes": 1.5,
        **versions,
        **more,
    }


def stages(kept: float, unseen: float) -> list[dict[str, object]]:
    """Nine stages: a family is known at 90 % when it has just come, at ``kept`` ever after and at ``unseen`` before."""
    families = list(rule_set("all").families)
    rows = []
    for stage, family in enumerate(families):
        known = {name: unseen if k > stage else kept if k < stage else 0.9 for k, name in enumerate(families)}
        rows.append({"family": family, "accuracy": known})
    return rows


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def test_figures_of_learning_in_turn_are_those_of_the_stages(ledger, tmp_path):
    experiment = make_experiment("continual")
    for row, made in (("joint", result(0.95)), ("anchor", result(0.88, stages=stages(kept=0.87, unseen=0.6)))):
        ledger.write(record(experiment.place(row, "omniglot").cell, made, (Epoch(1.0, 0.5),)))
    comparison = compare(experiment, ledger)
    table = further_table(comparison)
    # 95 − 88 below joint; 90 − 87 forgotten; 60 − 50 known before it comes.
    assert "| omniglot | anchor | 88.0 ± 3.2 | 7.0 | 3.0 | 10.0 | 1 | 1.5 |" in table
    assert "| omniglot | joint | 95.0 ± 2.2 | 0.0 | – | – | 1 | 1.5 |" in table and "plain" not in table
    assert draw_figure(comparison, tmp_path / "continual.png")
    with Image.open(tmp_path / "continual.png") as picture:
        assert picture.size[0] > 500


def test_numbers_of_a_memory_are_counted_for_every_form(ledger, tmp_path):
    experiment = make_experiment("memory")
    comparison = compare(experiment, ledger)
    assert not draw_figure(comparison, tmp_path / "memory.png")
    # 4 slots of 64 × 64, values and keys; of rank 4 they have 2 · 64 · 4 numbers each.
    assert memory_numbers(experiment.place("full", "64 rows").cell.config) == 2 * 4 * 64 * 64
    assert memory_numbers(experiment.place("rank-4", "64 rows").cell.config) == 2 * 4 * 2 * 64 * 4
    assert "| 64 rows | rank-4 | 4,096 | 12% | · | · |" in further_table(comparison)
    ledger.write(record(experiment.place("rank-4", "64 rows").cell, result(0.9), (Epoch(1.0, 0.5),)))
    assert draw_figure(compare(experiment, ledger), tmp_path / "memory.png")


def test_other_experiments_have_no_second_table(ledger, tmp_path):
    comparison = compare(make_experiment("table1"), ledger)
    assert further_table(comparison) == "" and not draw_figure(comparison, tmp_path / "table1.png")
