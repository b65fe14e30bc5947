"""Promises of the experiments: keys that name cells, a ledger that refuses what it cannot read, tables as in the paper."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.evaluation import wilson
from fine.experiments import EXPERIMENTS, Cell, Ledger, Record, compare, make_experiment, markdown
from fine.experiments.experiment import cells
from fine.experiments.ledger import Epoch, failure, protocol_name, record
from fine.experiments.tables import for_size
from fine.models import MODELS
from fine.protocols import PROTOCOLS, Training
from fine.runs import RunConfig
from fine.tasks import PRESETS, Task

ROTATION = Cell(RunConfig(model="esbn", task=Task.preset("omniglot", rules="rotation")))


def result(accuracy: float = 0.75, puzzles: int = 400) -> dict[str, object]:
    """What a run folder's result.json says."""
    return {
        "accuracy": accuracy,
        "interval": list(wilson(round(accuracy * puzzles), puzzles)),
        "puzzles": puzzles,
        "mistakes": {"wrong rule": 0.125, "wrong object": 0.125, "both wrong": 0.0},
        "by_rule": [
            {
                **{"family": "rotation", "rule": "rotation 15°", "puzzles": puzzles, "right": accuracy},
                **{"wrong rule": 1 - accuracy, "wrong object": 0.0, "both wrong": 0.0},
            }
        ],
        "minutes": 1.5,
        "fine": "0.1.0",
        "torch": "2.13.0",
        "python": "3.11.7",
        "machine": "x86_64, 1 threads",
        "commit": "abc1234",
    }


def recorded(cell: Cell, accuracy: float = 0.75) -> Record:
    return record(cell, result(accuracy), (Epoch(1.2, 0.4), Epoch(0.6, 0.7)))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def test_keys_stay_as_they_are():
    # Results are found by their keys: if one of these changes, every result in every ledger is lost. A field added to Task,
    # Training or a model whose default is 0, empty or False changes none.
    assert ROTATION.key == "omniglot_rotation_esbn_10000x6_710b7a5b_seed0"
    extreme = RunConfig(
        model="fine-nice",
        task=Task.preset("extreme-cifar100-omniglot", rules="shear"),
        training=replace(PROTOCOLS["paper"], seed=3),
        settings={"slots": "8"},
    )
    assert Cell(extreme).key == "cifar100-to-omniglot_shear-seen_fine-nice_slots-8_5000x200_43991866_seed3"


@pytest.mark.parametrize(
    "other",
    [
        replace(ROTATION.config, model="fine"),
        replace(ROTATION.config, settings={"code": 64}),
        *(replace(ROTATION.config, task=replace(ROTATION.config.task, **change)) for change in (
            {"rules": "shear"}, {"images": "mnist"}, {"train_count": 9}, {"test_count": 9}, {"size": 28}, {"channels": 3},
            {"train_classes": 50}, {"test_classes": 50}, {"validation": True}, {"test_rules": "swap"}, {"test_images": "mnist"},
        )),
        *(replace(ROTATION.config, training=replace(ROTATION.config.training, **change)) for change in (
            {"epochs": 7}, {"batch": 32}, {"rate": 1e-3}, {"schedule": "constant"}, {"clip": 1.0}, {"fresh": True},
            {"turned": True}, {"views": 4}, {"through": 0.5}, {"seed": 1},
        )),
    ],
    ids=lambda config: Cell(config).key,
)  # fmt: skip
def test_whatever_changes_a_result_changes_the_key(other):
    assert Cell(other).key != ROTATION.key


def test_another_default_of_a_model_is_another_cell(monkeypatch):
    before = ROTATION.key
    monkeypatch.setitem(MODELS, "esbn", MODELS["esbn"]._replace(config=replace(MODELS["esbn"].config, code=64)))
    after = Cell(ROTATION.config)
    assert after.settings == ROTATION.settings == {} and after.key != before


def test_a_key_does_not_depend_on_where_the_data_lies_or_how_a_setting_is_written():
    assert Cell(replace(ROTATION.config, task=replace(ROTATION.config.task, data_root="/elsewhere"))).key == ROTATION.key
    assert Cell(replace(ROTATION.config, settings={"encoder": "p4-cnn"})).key == ROTATION.key  # the default, said aloud
    written = (Cell(replace(ROTATION.config, settings={"code": code})).key for code in (64, "64"))
    assert len(set(written)) == 1


def test_cells_of_a_group_differ_in_the_seed_only():
    other = ROTATION.with_seed(4)
    assert other.group == ROTATION.group and other.key == f"{ROTATION.group}_seed4" and other.seed == 4
    assert Cell(replace(ROTATION.config, training=Training(epochs=7))).group != ROTATION.group


def test_a_key_is_the_name_of_a_file():
    task = Task(images="folder:/home/me/My Pictures/../x", rules="rotation+swap:seen")
    key = Cell(RunConfig(task=task)).key
    assert Path(key).name == key and not set(key) & set(' :/\\"*?<>|')


def test_a_record_is_read_as_it_was_written(ledger):
    written = recorded(ROTATION)
    assert ledger.read(ROTATION.key) is None and not ledger.has(ROTATION)
    ledger.write(written)
    assert ledger.read(ROTATION.key) == written and ledger.has(ROTATION)
    assert ledger.records() == [written] and ledger.failures() == []
    assert (written.rules, written.seed, written.epochs) == ("rotation", 0, 6)
    assert (written.train_puzzles, written.test_puzzles, written.protocol) == (10_000, 20_000, "quick")
    assert written.group == ROTATION.group


def test_a_record_is_a_short_json_file(ledger):
    ledger.write(recorded(ROTATION))
    (path,) = ledger.folder.iterdir()
    content = json.loads(path.read_text())
    assert content["format"] == 1 and content["key"] == path.stem and content["curve"] == [[1.2, 0.4], [0.6, 0.7]]
    assert path.read_text().count("\n") < 40


def test_a_record_does_not_say_where_the_data_lay(ledger):
    moved = Cell(replace(ROTATION.config, task=replace(ROTATION.config.task, data_root="/home/me/data")))
    ledger.write(recorded(moved))
    assert "/home" not in ledger.path(moved.key).read_text()


def test_a_result_takes_the_place_of_a_failure_and_stays(ledger):
    ledger.write(failure(ROTATION, "the loss is not finite\n  at step 3"))
    assert not ledger.has(ROTATION) and ledger.records() == []
    assert [entry.error for entry in ledger.failures()] == ["the loss is not finite at step 3"]
    ledger.write(recorded(ROTATION, 0.8))
    ledger.write(recorded(ROTATION, 0.9))
    ledger.write(failure(ROTATION, "too late"))
    assert [entry.accuracy for entry in ledger.records()] == [0.8] and ledger.failures() == []
    assert len(list(ledger.folder.iterdir())) == 1


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: None, "cannot be read as JSON"),
        (lambda content: content | {"format": 2}, "has format 2, this version of fine reads format 1"),
        (lambda content: {"format": 1}, "is not a record of a cell"),
        (lambda content: content | {"surprise": 1}, "is not a record of a cell"),
        (lambda content: content | {"task": {"nonsense": 1}}, "is not a record of a cell"),
        (lambda content: content | {"key": "another"}, "holds the record of another"),
    ],
)
def test_a_file_that_is_no_record_is_named_in_one_line(ledger, damage, words):
    ledger.write(recorded(ROTATION))
    path = ledger.path(ROTATION.key)
    content = damage(json.loads(path.read_text()))
    path.write_text("{" if content is None else json.dumps(content))
    for read in (ledger.records, lambda: ledger.read(ROTATION.key), lambda: ledger.seeds(ROTATION)):
        with pytest.raises(FineError, match=words) as refusal:
            read()
        assert str(path) in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_half_written_file_is_no_record(ledger):
    ledger.write(recorded(ROTATION))
    (ledger.folder / f".{ROTATION.with_seed(1).key}.json.77.part").write_text("{")
    assert len(ledger.entries()) == 1


def test_protocols_are_known_by_how_they_step():
    assert protocol_name(Training(epochs=60, seed=3, views=4, fresh=True, turned=True)) == "quick"
    assert protocol_name(replace(PROTOCOLS["paper"], epochs=300)) == "paper"
    assert protocol_name(Training(rate=1e-3)) == "custom"


SHAPES = {
    "table1": (8, 10),
    "table2": (8, 9),
    "table3": (7, 3),
    "table4": (7, 9),
    "figure-memories": (4, 7),
    "figure-training-size": (4, 4),
    "scaling": (3, 3),
    "fresh": (2, 10),
    "longer": (3, 4),
    "hints": (14, 4),
    "hints-by-family": (35, 4),
    "backwards": (8, 7),
    "chains": (4, 3),
    "powers": (10, 4),
    "odd-one-out": (2, 3),
    "trained-for-it": (2, 4),
    "noticing": (3, 7),
    "refusing": (1, 7),
    "calibration": (2, 2),
    "slots": (9, 6),
    "figure-map": (1, 2),
    "strings": (2, 4),
    "continual": (6, 2),
    "memory": (7, 2),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_rows_by_columns_of_different_cells(name):
    experiment = make_experiment(name)
    rows, columns = SHAPES[name]
    assert (len(experiment.rows), len(experiment.columns)) == (rows, columns)
    assert len({place.cell.key for place in experiment.places}) == len(experiment.places) == rows * columns
    for place in experiment.places:
        place.cell.config.check()
        assert experiment.place(place.row, place.column) == place


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "strings"])
def test_over_other_pictures_there_is_nothing_to_compare_with(name):
    experiment = make_experiment(name, images="glyphs")
    assert {place.cell.config.task.images for place in experiment.places} == {"glyphs"}
    assert not any(place.paper or place.cell.config.task.test_images for place in experiment.places)
    assert not {place.cell.key for place in experiment.places} & {place.cell.key for place in make_experiment(name).places}


def test_the_extreme_table_over_other_pictures_still_tests_unseen_rules():
    for place in make_experiment("table4", images="glyphs").places:
        task = place.cell.config.task
        assert task.rules.endswith(":seen") and task.test_rules == task.rules.replace(":seen", ":unseen")
        assert task.train_count == PRESETS["extreme-cifar100"].train_count


def test_longer_takes_any_pictures():
    places = make_experiment("longer", images="folder:my-pictures").places
    assert {place.cell.config.task.images for place in places} == {"folder:my-pictures"}


def test_longer_begins_with_cells_of_the_tables():
    tables = {place.cell.key for name in ("table1", "table2", "table4") for place in make_experiment(name).places}
    cells = {(place.row, place.column): place.cell for place in make_experiment("longer").places}
    for (row, column), cell in cells.items():
        assert (cell.key in tables) == (row == "6")
        short = cells["6", column].config
        finer = row == "turned" and "wave" in column
        own = {"epochs": 6 if row == "6" else 12 if finer else 18, "turned": row == "turned"}
        settings = {**short.settings, **({"columns": 4} if finer else {})}
        assert cell.config == replace(short, training=replace(short.training, **own), settings=settings)


def test_fresh_is_table_1_with_new_puzzles():
    table = make_experiment("table1")
    for place in make_experiment("fresh").places:
        same = table.place("fine", place.column).cell.config
        assert place.cell.config == replace(same, training=replace(same.training, fresh=place.row == "new ones"))


def test_the_paper_has_a_number_for_every_place_of_its_tables_but_ours():
    for name in ("table1", "table2", "table3", "table4"):
        for place in make_experiment(name).places:
            assert (place.paper is None) == (place.row == "fine"), place


def test_experiments_share_what_is_the_same():
    by_size = make_experiment("figure-training-size").place("fine-nice", "10000")
    by_encoder = make_experiment("table3").place("fine-nice", "p4-cnn")
    by_memory = make_experiment("figure-memories").place("4", "48")
    assert by_size.cell.key == by_encoder.cell.key == by_memory.cell.key


def test_seeds_come_one_after_the_other_and_cells_once():
    places = make_experiment("table3").places
    wanted = cells((*places, *places), seeds=3)
    assert [cell.seed for cell in wanted] == [0] * 21 + [1] * 21 + [2] * 21


def test_a_part_of_an_experiment_can_be_selected():
    experiment = make_experiment("table1")
    some = experiment.select(models=("esbn", "fine"), columns=("rotation",))
    assert {(place.row, place.column) for place in some} == {("esbn", "rotation"), ("fine", "rotation")}
    assert experiment.select() == experiment.places
    with pytest.raises(FineError, match="did you mean 'esbn'"):
        experiment.select(models=("esbm",))
    with pytest.raises(FineError, match="did you mean 'rotation'"):
        experiment.select(columns=("rotate",))
    with pytest.raises(FineError, match="did you mean 'table1'"):
        make_experiment("tabel1")


@pytest.mark.parametrize(("size", "epochs"), [(100, 600), (1_000, 60), (10_000, 6), (100_000, 6), (1_000_000, 1)])
def test_a_short_training_shows_few_puzzles_as_often_as_many(size, epochs):
    assert for_size(PROTOCOLS["quick"], size).epochs == epochs
    assert for_size(PROTOCOLS["paper"], size) == PROTOCOLS["paper"]  # 200 epochs whatever the size, as in the paper


def test_a_table_shows_the_paper_beside_us_and_what_is_missing(ledger):
    experiment = make_experiment("table1")
    cell = experiment.place("esbn", "rotation").cell
    ledger.write(recorded(cell, 0.75))
    low, high = wilson(300, 400)
    entry = compare(experiment, ledger).entry("esbn", "rotation")
    assert (
        entry.here == 75 and entry.spread == pytest.approx(50 * (high - low)) and entry.difference == pytest.approx(75 - 58.6)
    )
    ledger.write(recorded(cell.with_seed(1), 0.77))
    ledger.write(failure(experiment.place("esbn", "shear").cell, "no memory"))
    comparison = compare(experiment, ledger)
    page = markdown(comparison)
    # The deviation of 75 and 77 about their mean of 76 is √2.
    assert "| ESBN | 79.8 ± 0.6 / · | 58.6 ± 1.0 / 76.0 ± 1.4 | 50.1 ± 0.3 / · | 84.5 / failed |" in page
    assert "| FINE (ours) | – / · |" in page
    assert "1 of 80 places" in page and "no memory" in page and "quick, 6 epochs" in page and "abc1234" in page
    assert page.count("·") == 80 - 2 + 1  # and once to say what it means


def test_a_table_over_other_pictures_shows_ours_alone(ledger):
    experiment = make_experiment("table4", images="glyphs")
    ledger.write(recorded(experiment.place("fine", "glyphs-shear").cell, 0.5))
    page = markdown(compare(experiment, ledger))
    assert "| FINE (ours) | · | · | 50.0 ± 4.9 |" in page and "/" not in page
