"""Measures: each takes its number from a run that is trained once, and is kept like any result."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fine.analysis import function_map
from fine.errors import FineError
from fine.experiments import Experiment, Ledger, compare, make_experiment, markdown
from fine.experiments.measures import measure
from fine.experiments.probe_tables import PROBE_TABLES
from fine.experiments.probes import Probe
from fine.experiments.worker import read_outcome, run_cell
from fine.training import Training
from support.experiments import FOUR

ONE_OF_EACH = {
    "hints": ("10 % noise", "2"),
    "hints-by-family": ("shear, 10 % covered", "2"),
    "backwards": ("by inverse", "rotation"),
    "chains": ("affine", "2"),
    "odd-one-out": ("fine", "3"),
    "trained-for-it": ("plain puzzles", "a chain of 2"),
    "noticing": ("misfit of the hint", "swap"),
    "refusing": ("fine", "random pairs"),
    "calibration": ("with a temperature", "affine"),
    "slots": ("without 2", "shear"),
    "figure-map": ("fine", "map"),
    "powers": ("30° @ 15°", "affine: within 15°"),
}


@pytest.fixture
def tiny(workplace):
    """An experiment over noise, with little training and few puzzles, in an empty folder."""

    def make(name: str) -> Experiment:
        training = Training(epochs=1, batch=16)
        experiment = make_experiment(name, images="folder:images", training=training)
        return experiment.change(train_count=64, test_count=12)

    return make


@pytest.mark.slow
def test_every_measure_is_taken_of_one_run_and_kept(tiny, monkeypatch):
    # As where umap-learn is not installed, and sooner.
    monkeypatch.setattr(function_map, "_by_umap", lambda vectors: None)
    ledger, folder = Ledger(Path("ledger")), Path("runs")
    assert set(ONE_OF_EACH) == set(PROBE_TABLES)
    for name, (row, column) in ONE_OF_EACH.items():
        experiment = tiny(name)
        cell = experiment.place(row, column).cell
        ledger.write(read_outcome(cell, run_cell(cell, folder / cell.key)))
        (record,) = compare(experiment, ledger).records
        assert ledger.read(cell.key) == record
        low, high = record.interval
        assert low - 1e-9 <= record.value <= high + 1e-9 and 0 <= record.value <= 1
        assert record.metric == experiment.metric
        assert record.test_puzzles > 0 and record.minutes >= 0
        assert record.probe["name"] == cell.probe.name and record.curve == ()
        assert experiment.measured in markdown(compare(experiment, ledger))
    run = tiny("chains").place("affine", "2").cell.run
    assert [trained.name for trained in folder.iterdir()] == [run.key]


def test_the_oracle_needs_no_training(tiny):
    cell = tiny("odd-one-out").place("oracle", "4").cell
    result = run_cell(cell, Path("runs") / cell.key)["result"]
    assert result["value"] > 0.5  # of noise, whatever leaves the image is lost
    assert not Path("runs").exists()


def test_an_unknown_measure_is_refused():
    cell = replace(make_experiment("chains").places[0].cell, probe=Probe("dreams", 5))
    with pytest.raises(FineError, match="unknown probe 'dreams'"):
        measure(cell, lambda config: pytest.fail("nothing is trained for it"))


@pytest.mark.slow
def test_a_run_without_a_probe_is_recorded_without_one(tmp_path, workplace):
    cell = FOUR[0]
    ledger = Ledger(tmp_path / "ledger")
    ledger.write(read_outcome(cell, run_cell(cell, tmp_path / "runs" / cell.key)))
    content = json.loads(ledger.path(cell.key).read_text(encoding="utf-8"))
    assert not {"probe", "details"} & content.keys() and content["metric"] == "accuracy"
