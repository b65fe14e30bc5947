"""Files of earlier versions are read and resumed as if this version had written them."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.experiments import Cell, Failure, Ledger, Record
from fine.experiments.ledger import FORMAT as LEDGER_FORMAT
from fine.io.files import read_json
from fine.io.tensors import read_tensors
from fine.training import Run, resume
from fine.training.run import FORMAT
from laws.formats.make import CONFIG, CONTINUAL, answers, size

FORMATS = sorted((Path(__file__).parent / "formats").glob("[0-9]*"))
ROUNDING = {"rtol": 1e-3, "atol": 1e-4}
"""How far the answers of another machine may be off."""

every_format = pytest.mark.parametrize("place", FORMATS, ids=lambda place: place.name)
since_format_2 = pytest.mark.parametrize("place", FORMATS[1:], ids=lambda place: place.name)


def expected_answers(place: Path) -> torch.Tensor:
    return torch.tensor(json.loads((place / "answers.json").read_text()))


def test_every_format_there_was_is_kept():
    assert [int(place.name) for place in FORMATS] == list(range(1, FORMAT + 1))
    for place in FORMATS:
        assert json.loads((place / "finished/config.json").read_text())["format"] == int(place.name)
    records = (path for place in FORMATS for path in (place / "ledger").iterdir())
    ledger_formats = {json.loads(path.read_text())["format"] for path in records}
    assert ledger_formats == set(range(1, LEDGER_FORMAT + 1))


@pytest.mark.slow
@every_format
def test_a_finished_run_answers_as_it_did(place):
    run = Run(place / "finished")
    config = run.config()
    assert run.finished and (config.task, config.training) == (CONFIG.task, CONFIG.training)
    torch.testing.assert_close(answers(run.folder), expected_answers(place), **ROUNDING)


@pytest.mark.slow
@every_format
def test_a_stopped_run_is_resumed_to_the_same_answers(place, tmp_path):
    shutil.copytree(place / "stopped", tmp_path / "run")
    resume(tmp_path / "run")
    assert Run(tmp_path / "run").finished
    rows = (tmp_path / "run/metrics.csv").read_text().splitlines()
    assert rows[:2] == (place / "stopped/metrics.csv").read_text().splitlines()
    assert len(rows) == 3
    torch.testing.assert_close(answers(tmp_path / "run"), expected_answers(place), **ROUNDING)


@every_format
def test_checkpoints_have_a_configuration_and_a_checksum_since_format_4(place):
    texts = read_tensors(place / "stopped/state.safetensors")[1]
    later = {"config", "checksum"} if int(place.name) >= 4 else set()
    assert texts.keys() == {"progress", *later}
    assert Run(place / "stopped").threads() == (1 if int(place.name) >= 4 else 0)


@pytest.mark.slow
@since_format_2
def test_a_stopped_continual_run_is_resumed_to_the_same_weights(place, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(place / "continual", folder)
    assert Run(folder).config().complete() == CONTINUAL.complete()  # settings of today are added
    resume(folder)
    assert Run(folder).finished
    assert size(folder) == pytest.approx(read_json(place / "continual.json")["size"], rel=2e-5)


@every_format
def test_a_ledger_is_read(place):
    ledger = Ledger(place / "ledger")
    (record,), (failure,) = ledger.records(), ledger.failures()
    result = json.loads((place / "finished/result.json").read_text())
    assert isinstance(record, Record) and record.task == CONFIG.task and len(record.curve) == 2
    assert (record.value, record.metric) == (result["accuracy"], "accuracy")
    assert isinstance(failure, Failure) and failure.error == "there was no more memory"
    assert (record.seed, failure.seed) == (0, 1)


def test_a_record_is_found_by_the_cell_of_its_run():
    """Those of formats 1 and 2 are of other defaults, so of other cells than today's; that keys of
    kept results are found again is tested in tests/experiments."""
    place = FORMATS[-1]
    cell = Cell(Run(place / "finished").config())
    found = Ledger(place / "ledger").read(cell.key)
    assert found is not None and found.settings == cell.settings
    assert cell.key == Cell(CONFIG).key


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        (FORMAT + 1, "install the version of fine that wrote it, or train"),
        *((version, "train") for version in (0, None, "x", [1], 1.5)),
    ],
)
def test_a_run_of_another_format_is_refused_with_what_to_do(tmp_path, version, remedy):
    (tmp_path / "config.json").write_text(json.dumps({"format": version}))
    with pytest.raises(FineError) as problem:
        Run(tmp_path).config()
    reads = f"this version of fine reads format {FORMAT}: {remedy} the run again"
    assert f"has format {version}, {reads}" in str(problem.value)


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        (LEDGER_FORMAT + 1, "install the version of fine that wrote it, or delete"),
        (0, "delete"),
    ],
)
def test_a_record_of_another_format_is_refused_with_what_to_do(tmp_path, version, remedy):
    (tmp_path / "key.json").write_text(json.dumps({"format": version}))
    reads = f"this version of fine reads format {LEDGER_FORMAT}: {remedy} it"
    with pytest.raises(FineError, match=f"has format {version}, {reads}"):
        Ledger(tmp_path).entries()
