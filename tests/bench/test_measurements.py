"""The measurements: parts are those of the step, operations are counted, all models are there."""

import pytest
import torch

from fine.bench import measurements, read_bench
from fine.bench.results import NAMES
from fine.bench.steps import Parts, Step
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
def test_the_command_measures_keeps_and_compares(fine, small, tmp_path):
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
    measurements.growth(TASK, until=0.0)
    assert made == [(0, 4, {}), (0, 8, {}), (0, 4, {"embedding_size": 64}), (3, 4, {})]


def test_an_impossible_length_is_refused(fine):
    code, _, err = fine("bench", "--seconds", "0")
    assert code == 2 and "seconds is 0.0: give more than 0" in err
