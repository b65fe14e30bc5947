"""Promises of formats: what an earlier version wrote is read, and goes on, as if this one had written it."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.experiments import Failure, Ledger, Record, ledger
from fine.runs import FORMAT, Run
from fine.training import resume
from formats.make import CONFIG, pictures

KEPT = sorted((Path(__file__).parent / "formats").glob("[0-9]*"))


def test_every_format_there_was_is_kept():
    assert [int(place.name) for place in KEPT] == list(range(1, max(FORMAT, ledger.FORMAT) + 1))


@pytest.mark.parametrize("place", KEPT, ids=lambda place: place.name)
def test_a_run_of_an_earlier_version_answers_as_it_did(place):
    run = Run(place / "finished")
    assert run.finished and run.config().task == CONFIG.task and run.config().training == CONFIG.training
    with torch.no_grad():
        answers = run.load()(pictures())[0]
    torch.testing.assert_close(answers, torch.tensor(json.loads((place / "answers.json").read_text())), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("place", KEPT, ids=lambda place: place.name)
def test_a_run_that_an_earlier_version_began_is_brought_to_its_end(place, tmp_path):
    shutil.copytree(place / "stopped", tmp_path / "run")
    resume(tmp_path / "run")
    rows = (tmp_path / "run/metrics.csv").read_text().splitlines()
    assert Run(tmp_path / "run").finished and len(rows) == 3
    assert rows[:2] == (place / "stopped/metrics.csv").read_text().splitlines()


@pytest.mark.parametrize("place", KEPT, ids=lambda place: place.name)
def test_a_ledger_of_an_earlier_version_is_read(place):
    kept = Ledger(place / "ledger")
    (record,), (failure,) = kept.records(), kept.failures()
    assert isinstance(record, Record) and record.task == CONFIG.task and len(record.curve) == 2
    assert record.accuracy == json.loads((place / "finished/result.json").read_text())["accuracy"]
    assert isinstance(failure, Failure) and failure.error == "there was no more memory" and failure.seed == 1


@pytest.mark.parametrize(
    ("version", "remedy"),
    [(FORMAT + 1, "install the version of fine that wrote it, or train"), (0, "train"), (None, "train"), ("x", "train")],
)
def test_a_run_of_another_format_is_refused_with_what_to_do(tmp_path, version, remedy):
    (tmp_path / "config.json").write_text(json.dumps({"format": version}))
    with pytest.raises(FineError, match=f"has format {version}, this version of fine reads format {FORMAT}: {remedy} the run"):
        Run(tmp_path).config()


@pytest.mark.parametrize(
    ("version", "remedy"), [(ledger.FORMAT + 1, "install the version of fine that wrote it, or delete"), (0, "delete")]
)
def test_a_record_of_another_format_is_refused_with_what_to_do(tmp_path, version, remedy):
    (tmp_path / "key.json").write_text(json.dumps({"format": version}))
    with pytest.raises(
        FineError, match=f"has format {version}, this version of fine reads format {ledger.FORMAT}: {remedy} it"
    ):
        Ledger(tmp_path).entries()
