"""The measurements: parts are those of the step, operations are counted, all models are there."""

import time

import pytest
import torch

from fine.bench import Bench, Measured, measurements, read_bench
from fine.bench.results import NAMES
from fine.bench.steps import Parts, Step
from fine.bench.timing import Limit, TimeIsUp
from fine.models import MODELS

TASK = measurements.few_puzzles()


@pytest.mark.parametrize(
    ("model", "pairs"), [("fine", 4 * 8), ("fine-nice", 4 * 8), ("fine-mlp", 2 * 8)]
)
def test_all_calls_of_memories_are_noted(model, pairs):
    # `fine` asks a puzzle in four directions, NICE has four layers with a memory, the MLP two.
    parts = Parts(Step(model, TASK, batch=8))
    assert sum(len(reading.x) for reading in parts.readings) == pairs
    parts.remember()
    for reading in parts.readings:
        assert torch.isfinite(reading.x.grad).all() and reading.x.grad.any()


@pytest.mark.parametrize("model", measurements.COMPOSING)
def test_the_parts_of_a_step_make_the_gradients_of_the_step(model):
    # The encoder's part ends where the answer's begins: at the embeddings.
    parts = Parts(Step(model, TASK, batch=8))
    parts.model.train()
    parts.answer()
    assert parts.embeddings.grad is not None and parts.embeddings.grad.any()
    assert all(p.grad is None for p in parts.model.encoder.parameters())
    parts.encode()
    assert all(p.grad is not None for p in parts.model.encoder.parameters())


def test_operations_are_counted():
    left, right = torch.randn(3, 5, requires_grad=True), torch.randn(5, 7)
    product = 2 * 3 * 5 * 7
    assert measurements._operations(lambda: left @ right) == product
    both_ways = measurements._operations(lambda: (left @ right).sum().backward())
    assert both_ways == 2 * product  # and the gradient of one side


@pytest.fixture
def small(monkeypatch):
    """All that is measured, with small numbers and one round."""
    growing = {"batch": (4, 8), "embedding_size": (64,), "channels": (3,)}
    sizes = {"BATCH": 4, "ROUNDS": 1, "SIDE": 8, "GROWTH": growing}
    for name, value in sizes.items():
        monkeypatch.setattr(measurements, name, value)


@pytest.mark.slow
def test_the_command_measures_keeps_and_compares(fine, small, tmp_path, monkeypatch):
    threads = torch.get_num_threads()
    code, said, _ = fine("bench", "--out", tmp_path / "bench.json")
    assert code == 0 and torch.get_num_threads() == threads
    bench = read_bench(tmp_path / "bench.json")
    assert tuple(table.name for table in bench.tables) == NAMES
    speeds, parts, processor, growth = bench.tables
    assert speeds.rows.keys() == MODELS.keys() and "object-only" in said
    assert all(number > 0 for row in speeds.rows.values() for number in row.values())
    for row in parts.rows.values():
        shares = [share for column, share in row.items() if "%" in column]
        assert sum(shares) == pytest.approx(100)
    assert [*processor.rows][-1].startswith("product of 8×8")
    settings = ["batch 4", "batch 8", "embedding_size 64", "channels 3"]
    assert [*growth.rows] == settings
    monkeypatch.setattr("fine.cli.bench.measure", lambda **_: bench)  # as if measured again
    code, said, _ = fine("bench", "--compare", tmp_path / "bench.json")
    assert code == 0 and said.count("now / then") == 4


@pytest.mark.slow
def test_settings_are_measured_as_they_are_named(small, monkeypatch):
    made = []

    class NotedStep(Step):
        def __init__(self, model, task, *, batch, settings):
            made.append((task.channels, batch, settings))
            super().__init__(model, task, batch=batch, settings=settings)

    monkeypatch.setattr(measurements, "Step", NotedStep)
    measurements.growth(TASK, Limit(enough=0.0))
    assert made == [(0, 4, {}), (0, 8, {}), (0, 4, {"embedding_size": 64}), (3, 4, {})]


def test_an_impossible_length_is_refused(fine):
    code, _, err = fine("bench", "--seconds", "0")
    assert code == 2 and "seconds is 0.0: give more than 0" in err


@pytest.mark.parametrize("table", measurements.TABLES.values())
def test_a_table_without_time_is_not_begun(table, monkeypatch):
    monkeypatch.setattr(measurements, "Step", None)  # nothing is made
    with pytest.raises(TimeIsUp):
        table(TASK, Limit(end=0.0))


def test_the_length_is_that_of_all_tables(monkeypatch):
    given = []

    def make(_: object, limit: Limit) -> Measured:
        given.append(limit)
        if len(given) == 4:
            raise TimeIsUp
        return Measured(NAMES[len(given) - 1], "Title", "row", {"a": {"b": 1.0}})

    monkeypatch.setattr(measurements, "TABLES", dict.fromkeys("abcd", make))
    started = time.monotonic()
    bench = measurements.measure(seconds=8.0)
    assert bench.names == ["speed", "parts", "processor"]
    assert [limit.enough - given[0].enough for limit in given] == pytest.approx([0, 2, 4, 6])
    assert {limit.end for limit in given} == {given[3].enough}
    assert 8 <= given[3].end - started < 8.5


def test_a_length_too_short_for_anything_is_refused_at_once(fine, monkeypatch):
    monkeypatch.setattr(measurements, "few_puzzles", lambda: time.sleep(0.01))
    monkeypatch.setattr(measurements, "Step", None)  # nothing is made
    code, out, err = fine("bench", "--seconds", "0.001")
    assert code == 2 and not out and err.count("\n") == 1
    assert "seconds is 0.001, too few for anything to be measured" in err


def test_tables_that_were_left_out_are_named(fine, monkeypatch):
    few = Bench({}, 1.0, (Measured("parts", "A step", "model", {"fine": {"rest %": 3.0}}),))
    monkeypatch.setattr("fine.cli.bench.measure", lambda **_: few)
    code, out, _ = fine("bench")
    assert code == 0 and "left out for lack of time: speed, processor, growth;" in out


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_no_title_is_cut(fine, monkeypatch, width):
    shares = measurements._shares(1, 20, 40, 30, 10)
    rows = {name: {"step, ms": 1234.5, **shares} for name in MODELS}
    title = "A training step by part, and what else there is to say about it: a great deal"
    few = Bench({}, 1.0, (Measured("parts", title, "model", rows, f"A note of {title}"),))
    monkeypatch.setattr("fine.cli.bench.measure", lambda **_: few)
    monkeypatch.setattr("fine.cli.bench.console.width", int(width))
    out = fine("bench").out
    assert "…" not in out and all(f" {name} " in out for name in MODELS)
    words = {word for column in shares for word in column.split()}
    assert words <= {*out.split()} and " ".join(out.split()).count(title) == 2


@pytest.mark.parametrize(
    ("measured", "rest"),
    [((1, 2, 60, 30, 20), 7), ((1, 2, 65, 33.4, 20), 0), ((5, 50, 50, 20, 21), 0)],
)
def test_shares_of_a_step_add_up_and_none_is_negative(measured, rest):
    shares = measurements._shares(*measured)
    assert sum(shares.values()) == pytest.approx(100) and min(shares.values()) >= 0
    assert shares["rest %"] == pytest.approx(rest)
    assert shares["encoder %"] / shares["rendering %"] == pytest.approx(measured[2] / measured[1])
