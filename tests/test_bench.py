"""Promises of `fine bench`: candidates take turns, parts are those of the step, operations are counted, files are kept."""

import json
from dataclasses import replace

import pytest
import torch

from fine.bench import Bench, Measured, measuring, read_bench
from fine.bench.steps import Parts, Step
from fine.bench.timing import median_ratio, take_turns
from fine.errors import FineError
from fine.models import MODELS

TASK = measuring.few_puzzles()
KEPT = Bench({"commit": "one"}, 2.5, (Measured("Speed", "model", {"fine": {"puzzles/s": 300.0, "share %": 0.0}}, "a note"),))


def test_candidates_take_turns_and_the_first_round_does_not_count():
    called = []
    ticks = iter(range(100))
    seconds = take_turns([lambda: called.append("a"), lambda: called.append("b")], rounds=3, clock=lambda: next(ticks))
    assert called == list("abababab")
    assert seconds == [[1, 1, 1], [1, 1, 1]]


def test_without_time_left_there_are_three_rounds():
    assert len(take_turns([int], rounds=50, until=0.0)[0]) == 3


def test_a_ratio_is_that_of_rounds_and_not_of_sums():
    # A machine that is ten times slower in one round is so for both candidates.
    assert median_ratio([2, 20, 2], [1, 10, 1]) == 2


@pytest.mark.parametrize(("model", "pairs"), [("fine", 4 * 8), ("fine-nice", 4 * 8), ("fine-mlp", 2 * 8)])
def test_all_readings_of_memories_are_noted(model, pairs):
    # `fine` reads a puzzle four ways, NICE has four layers that read a memory each, the MLP two.
    parts = Parts(Step(model, TASK, batch=8))
    assert sum(len(x) for _, x, _, _ in parts.readings) == pairs
    parts.remember()
    assert all(torch.isfinite(x.grad).all() and x.grad.any() for _, x, _, _ in parts.readings)


def test_operations_are_counted():
    left, right = torch.randn(3, 5, requires_grad=True), torch.randn(5, 7)
    assert measuring._operations(lambda: left @ right) == 2 * 3 * 5 * 7
    assert measuring._operations(lambda: (left @ right).sum().backward()) == 2 * 2 * 3 * 5 * 7  # and the gradient of one side


@pytest.fixture
def small(monkeypatch):
    """All that is measured, with small numbers and one round."""
    growing = {"batch": ({"batch": 4}, {"batch": 8}), "code": ({"code": 64},), "channels": ({"channels": 3},)}
    for name, value in {"BATCH": 4, "ROUNDS": 1, "SIDE": 8, "GROWTH": growing}.items():
        monkeypatch.setattr(measuring, name, value)


def test_the_command_measures_keeps_and_compares(fine, small, tmp_path):
    threads = torch.get_num_threads()
    code, said, _ = fine("bench", "--out", tmp_path / "bench.json")
    assert code == 0 and torch.get_num_threads() == threads
    speeds, parts, processor, growth = read_bench(tmp_path / "bench.json").tables
    assert speeds.rows.keys() == MODELS.keys() and "object-only" in said
    assert all(number > 0 for row in speeds.rows.values() for number in row.values())
    for row in parts.rows.values():
        assert sum(share for column, share in row.items() if "%" in column) == pytest.approx(100)
    assert [*processor.rows][-1].startswith("product of 8×8")
    assert [*growth.rows] == [
        "batch 4",
        "batch 8",
        "code 64",
        "channels 3",
    ]
    code, said, _ = fine("bench", "--compare", tmp_path / "bench.json")
    assert code == 0 and said.count("now / then") == 4


def test_a_bench_is_kept_as_it_is(tmp_path):
    KEPT.save(tmp_path / "bench.json")
    assert read_bench(tmp_path / "bench.json") == KEPT


def test_ratios_are_to_what_was_measured_then():
    faster = Measured("Speed", "model", {"fine": {"puzzles/s": 450.0, "share %": 3.0}, "new": {"puzzles/s": 1.0}})
    (ratios,) = replace(KEPT, tables=(faster, replace(faster, title="Other"))).against(KEPT)
    assert ratios.rows == {"fine": {"puzzles/s": 1.5}}


@pytest.mark.parametrize("content", [{}, {"format": 1}, {"format": 1, "made_by": {}, "seconds": "2", "tables": []}])
def test_a_file_that_is_no_bench_is_refused(content, tmp_path):
    (tmp_path / "bench.json").write_text(json.dumps(content))
    with pytest.raises(FineError, match=r"is no bench.*`fine bench --out`"):
        read_bench(tmp_path / "bench.json")


def test_an_impossible_length_is_refused(fine):
    code, _, err = fine("bench", "--seconds", "0")
    assert code == 2 and "seconds is 0.0: give more than 0" in err
