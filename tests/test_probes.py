"""Promises of probes: each measures what its table says, of a run that is trained once, and is kept like any other cell."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fine import FineError, Training
from fine.experiments import Cell, Experiment, Ledger, compare, make_experiment, markdown
from fine.experiments.executors import Finished, LocalProcesses
from fine.experiments.functions import FUNCTIONS
from fine.experiments.measuring import MEASURES, measure
from fine.experiments.probes import Probe
from fine.experiments.work import as_text, from_text, read_outcome, work
from fine.functions import charts
from fine.questions import FORWARDS


@pytest.fixture
def tiny(noisy_pictures, monkeypatch):
    """An experiment over noise, with little training and few puzzles, in an empty folder."""
    monkeypatch.chdir(noisy_pictures.parent)

    def make(name: str) -> Experiment:
        experiment = make_experiment(name, images="folder:pictures", training=Training(epochs=1, batch=16))
        return experiment.change(train_count=64, test_count=12)

    return make


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_table_is_made_of_probes_of_known_measures(name):
    for place in make_experiment(name).places:
        probe = place.cell.probe
        if probe is None:  # a run whose own test is the question
            assert place.cell.config.question != FORWARDS and place.cell.config.task.test_count > 0
        else:
            assert probe.name in MEASURES and probe.count > 0
        assert place.cell.run.probe is None and place.cell.key.startswith(place.cell.run.group)
        assert from_text(as_text(place.cell, Path("x"), "cpu"))[0].key == place.cell.key


def test_another_number_of_puzzles_changes_the_probe_and_not_the_run():
    experiment = make_experiment("chains")
    fewer = experiment.change(test_count=7)
    for place, changed in zip(experiment.places, fewer.places, strict=True):
        assert changed.cell.probe.count == 7 and changed.cell.run == place.cell.run and changed.cell.key != place.cell.key
        assert changed.cell.with_seed(3).probe == changed.cell.probe


def test_every_kind_of_measure_is_taken_of_one_run_and_kept(tiny, monkeypatch):
    monkeypatch.setattr(charts, "_by_umap", lambda vectors: None)  # as where it is not installed, and sooner
    ledger, folder = Ledger(Path("ledger")), Path("runs")
    asked = {
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
    assert set(asked) == set(FUNCTIONS)
    for name, (row, column) in asked.items():
        experiment = tiny(name)
        cell = experiment.place(row, column).cell
        ledger.write(read_outcome(cell, work(cell, folder / cell.key)))
        (record,) = compare(experiment, ledger).records
        assert ledger.read(cell.key) == record and 0 <= record.accuracy <= 1 and record.test_puzzles > 0
        assert record.interval[0] - 1e-9 <= record.accuracy <= record.interval[1] + 1e-9 and record.minutes >= 0
        assert record.probe["name"] == cell.probe.name and record.curve == ()
        assert experiment.measured in markdown(compare(experiment, ledger))
    assert [run.name for run in folder.iterdir()] == [tiny("chains").place("affine", "2").cell.run.key]


def test_the_oracle_needs_no_training(tiny):
    cell = tiny("odd-one-out").place("oracle", "4").cell
    assert work(cell, Path("runs") / cell.key)["result"]["accuracy"] > 0.5  # of noise, whatever leaves the picture is lost
    assert not Path("runs").exists()


def test_a_measure_that_there_is_not_is_refused():
    cell = replace(make_experiment("chains").places[0].cell, probe=Probe("dreams", 5))
    with pytest.raises(FineError, match="unknown probe 'dreams'"):
        measure(cell, lambda config: pytest.fail("nothing is trained for it"))


def test_probes_share_a_process_and_trainings_do_not(tmp_path):
    script = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'result': {'process': os.getpid()}, 'curve': []}), flush=True)\n"
    )
    executor = LocalProcesses(tmp_path, jobs=1, command=(sys.executable, "-c", script))

    def process_of(cell: Cell) -> int:
        executor.start(cell)
        event = None
        while event is None:
            event = executor.next(timeout=30)
        assert isinstance(event, Finished)
        return event.outcome["result"]["process"]

    probes = [place.cell for place in make_experiment("chains").places[:3]]
    shared = [process_of(cell) for cell in probes]
    alone = [process_of(cell.run.with_seed(seed)) for seed, cell in enumerate(probes)]
    executor.stop()
    assert len(set(shared)) == 1 and len({*shared, *alone}) == 4 and not executor.idle


def test_a_record_without_a_probe_is_written_as_ever(tmp_path, tiny):
    cell = tiny("chains").place("affine", "1").cell.run
    ledger = Ledger(tmp_path / "ledger")
    outcome = work(cell, tmp_path / "runs" / cell.key)
    ledger.write(read_outcome(cell, outcome))
    assert not {"probe", "details"} & set(json.loads(ledger.path(cell.key).read_text(encoding="utf-8")))
