"""The ledger keeps every result once, and refuses what it cannot read."""

import json
from dataclasses import replace

import pytest

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.experiments import Cell, make_experiment
from fine.experiments.ledger import FORMAT
from fine.experiments.records import failure, protocol_name, record
from fine.puzzles.task import Task
from fine.training import PROTOCOLS, Training
from support.experiments import ROTATION, recorded, result


def apart(*distances: float) -> dict[str, object]:
    """A row of confusions of rotations."""
    return {"family": "rotation", "apart": list(distances), "puzzles": 9, "wrong rule": 0.5}


def test_a_record_is_read_as_it_was_written(ledger):
    written = recorded(ROTATION)
    assert ledger.read(ROTATION.key) is None and not ledger.has(ROTATION)
    ledger.write(written)
    assert ledger.read(ROTATION.key) == written and ledger.has(ROTATION)
    assert ledger.records() == [written] and ledger.failures() == []
    assert (written.value, written.metric) == (0.75, "accuracy")
    assert (written.task.rules, written.seed, written.epochs) == ("rotation", 0, 6)
    assert (written.train_puzzles, written.test_puzzles) == (10_000, 20_000)
    assert written.protocol == "quick" and written.strategy == ""


def test_a_record_is_a_short_json_file(ledger):
    ledger.write(recorded(ROTATION))
    (path,) = ledger.folder.iterdir()
    content = json.loads(path.read_text())
    assert content["format"] == FORMAT and content["key"] == path.stem
    assert content["curve"] == [[1.2, 0.4], [0.6, 0.7]]
    assert path.read_text().count("\n") < 40
    assert not {"strategy", "probe", "confusions", "details", "stages"} & content.keys()


def test_a_record_says_what_was_measured(ledger):
    cell = make_experiment("noticing").places[0].cell
    measured = {**result(), "value": 0.9, "puzzles": 1_000}
    ledger.write(record(cell, measured, ()))
    content = json.loads(ledger.path(cell.key).read_text())
    assert (content["value"], content["metric"]) == (0.9, "AUROC") and "accuracy" not in content
    assert ledger.records()[0].test_puzzles == 1_000


def test_a_record_of_a_continual_run_says_its_strategy(ledger):
    config = ContinualConfig(task=Task.preset("glyphs", rules="all"), strategy="rehearsal")
    ledger.write(recorded(Cell(config)))
    assert json.loads(ledger.path(Cell(config).key).read_text())["strategy"] == "rehearsal"
    assert ledger.records()[0].strategy == "rehearsal"


def test_a_record_says_that_the_encoder_was_trained_before(ledger):
    """And not in which folder of whose machine."""
    cell = Cell(replace(ROTATION.config, encoder_from="/home/me/runs/first"))
    ledger.write(recorded(cell))
    text = ledger.path(cell.key).read_text()
    assert json.loads(text)["trained_encoder"] is True and "/home/me" not in text
    assert ledger.records()[0].trained_encoder and not recorded(ROTATION).trained_encoder


def test_a_record_does_not_say_where_the_data_lay(ledger):
    task = replace(ROTATION.config.task, data_root="/home/me/data")
    moved = Cell(replace(ROTATION.config, task=task))
    ledger.write(recorded(moved))
    assert "/home" not in ledger.path(moved.key).read_text()


def test_a_result_replaces_a_failure_and_stays(ledger):
    ledger.write(failure(ROTATION, "the loss is not finite\n  at step 3"))
    assert not ledger.has(ROTATION) and ledger.records() == []
    errors = [entry.error for entry in ledger.failures()]
    assert errors == ["the loss is not finite at step 3"]
    ledger.write(recorded(ROTATION, 0.8))
    ledger.write(recorded(ROTATION, 0.9))
    ledger.write(failure(ROTATION, "too late"))
    assert [entry.value for entry in ledger.records()] == [0.8] and ledger.failures() == []
    assert len(list(ledger.folder.iterdir())) == 1


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: None, "cannot be read as JSON"),
        (
            lambda content: content | {"format": FORMAT + 1},
            f"has format {FORMAT + 1}, this version of fine reads format {FORMAT}",
        ),
        (lambda content: {"format": 1}, "is not a record of a cell"),
        (lambda content: {"format": FORMAT}, "is not a record of a cell"),
        (lambda content: content | {"surprise": 1}, "is not a record of a cell"),
        (lambda content: content | {"task": {"nonsense": 1}}, "is not a record of a cell"),
        (lambda content: content | {"metric": "guesses"}, "its metric is 'guesses'"),
        (lambda content: content | {"key": "another"}, "holds the record of another"),
        (lambda content: content | {"value": 5.0}, "its accuracy has 5 where 0 to 1 is expected"),
        (lambda content: content | {"value": -1}, "its accuracy has -1 where 0 to 1 is expected"),
        (lambda content: content | {"value": 1.2, "metric": "AUROC"}, "its AUROC has 1.2 where"),
        (lambda content: content | {"interval": [0.5, 1.5]}, "its interval has 1.5 where"),
        (lambda content: content | {"interval": [0.8, 0.7]}, "its interval is from 0.8 to 0.7"),
        (lambda content: content | {"mistakes": {"wrong rule": -0.1}}, "its mistakes has -0.1"),
        (lambda content: content | {"curve": [[1.2, 40.0]]}, "its curve has 40 where"),
        (lambda content: content | {"minutes": -3}, "it took -3 minutes"),
        (lambda content: content | {"confusions": [apart()]}, "confusions has 0 distances"),
        (lambda content: content | {"confusions": [apart(15, 15)]}, "confusions has 2 distances"),
    ],
)
def test_a_file_that_is_no_record_is_named_in_one_line(ledger, damage, words):
    ledger.write(recorded(ROTATION))
    path = ledger.path(ROTATION.key)
    content = damage(json.loads(path.read_text()))
    path.write_text("{" if content is None else json.dumps(content))
    by_key, by_cell = (lambda: ledger.read(ROTATION.key)), (lambda: ledger.group(ROTATION))
    for read in (ledger.records, by_key, by_cell):
        with pytest.raises(FineError, match=words) as refusal:
            read()
        assert str(path) in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("whole", "damaged", "name"),
    [
        ('"value": 0.75', '"value": 0.9, "value": 0.75', "value"),
        ('"versions": {', '"versions": {"numpy": "1", "numpy": "2", ', "numpy"),
    ],
)
def test_a_record_with_a_name_twice_is_refused_in_one_line(ledger, whole, damaged, name):
    ledger.write(recorded(ROTATION))
    path = ledger.path(ROTATION.key)
    path.write_text(path.read_text().replace(whole, damaged))
    with pytest.raises(FineError) as refusal:
        ledger.records()
    assert str(refusal.value) == f"{path} cannot be read as JSON (it has '{name}' twice)"


def test_a_share_may_leave_its_range_by_rounding(ledger):
    written = recorded(ROTATION, 1.0, interval=[0.99, 1 + 2e-16])
    ledger.write(written)
    assert ledger.read(ROTATION.key) == written


def test_seeds_are_in_their_order_and_without_failures(ledger):
    for seed in (11, 2, 0):
        ledger.write(recorded(ROTATION.with_seed(seed)))
    ledger.write(failure(ROTATION.with_seed(3), "it broke"))
    assert [record.seed for record in ledger.seeds(ROTATION)] == [0, 2, 11]
    assert [entry.seed for entry in ledger.group(ROTATION)] == [0, 2, 3, 11]


def test_a_record_without_confusions_is_read(ledger):
    written = recorded(ROTATION, confusions=[apart(15.0)])
    ledger.write(written)
    assert ledger.read(ROTATION.key) == written and len(written.confusions) == 1
    path = ledger.path(ROTATION.key)
    content = json.loads(path.read_text())
    del content["confusions"]
    path.write_text(json.dumps(content))
    assert ledger.read(ROTATION.key) == replace(written, confusions=())


def test_a_half_written_file_is_no_record(ledger):
    ledger.write(recorded(ROTATION))
    (ledger.folder / f".{ROTATION.with_seed(1).key}.json.77.part").write_text("{")
    assert len(ledger.entries()) == 1


def test_protocols_are_known_by_how_they_step():
    augmented = {"augment_puzzles": 4, "augment_images": True, "conjugate": 0.5}
    longer = Training(epochs=60, seed=3, resample_each_epoch=True, **augmented)
    assert protocol_name(longer) == "quick"
    assert protocol_name(replace(PROTOCOLS["paper"], epochs=300)) == "paper"
    assert protocol_name(Training(learning_rate=1e-3)) == "custom"
