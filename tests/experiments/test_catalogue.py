"""The experiments: tables as in the paper, over its images or others."""

from dataclasses import replace

import pytest

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.experiments import EXPERIMENTS, make_experiment
from fine.experiments.experiment import cells
from fine.experiments.paper_tables import for_size
from fine.puzzles.task import PRESETS
from fine.training import PROTOCOLS

SHAPES = {
    "table1": (9, 10),
    "table2": (9, 9),
    "table3": (7, 3),
    "table4": (8, 9),
    "figure-memories": (4, 7),
    "figure-training-size": (4, 4),
    "scaling": (3, 3),
    "fresh": (2, 10),
    "distractors": (8, 9),
    "readings": (4, 7),
    "readings-others": (6, 4),
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
    "same-budget": (15, 10),
    "same-budget-cifar100": (15, 9),
    "same-budget-unseen": (15, 9),
}


def keys(name: str, **options: object) -> set[str]:
    return {place.cell.key for place in make_experiment(name, **options).places}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_rows_by_columns_of_different_cells(name):
    experiment = make_experiment(name)
    rows, columns = SHAPES[name]
    assert (len(experiment.rows), len(experiment.columns)) == (rows, columns)
    assert len(keys(name)) == len(experiment.places) == rows * columns
    for place in experiment.places:
        place.cell.config.check()
        assert experiment.place(place.row, place.column) == place


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_table_has_one_metric(name):
    experiment = make_experiment(name)
    assert {place.cell.metric for place in experiment.places} == {experiment.metric}
    assert experiment.measured.endswith(("%", "chance"))


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "strings"])
def test_over_other_images_there_is_nothing_to_compare_with(name):
    experiment = make_experiment(name, images="glyphs")
    tasks = [place.cell.config.task for place in experiment.places]
    assert {task.images for task in tasks} == {"glyphs"}
    assert not any(task.test_images for task in tasks)
    assert not any(place.paper for place in experiment.places)
    assert not keys(name, images="glyphs") & keys(name)


def test_the_extreme_table_over_other_images_still_tests_unseen_rules():
    for place in make_experiment("table4", images="glyphs").places:
        task = place.cell.config.task
        assert task.rules.endswith(":seen")
        assert task.test_rules == task.rules.replace(":seen", ":unseen")
        assert task.train_count == PRESETS["extreme-cifar100"].train_count


def test_longer_takes_any_images():
    places = make_experiment("longer", images="folder:my-pictures").places
    assert {place.cell.config.task.images for place in places} == {"folder:my-pictures"}


def test_longer_begins_with_cells_of_the_tables():
    tables = keys("table1") | keys("table2") | keys("table4")
    cells = {(place.row, place.column): place.cell for place in make_experiment("longer").places}
    for (row, column), cell in cells.items():
        assert (cell.key in tables) == (row == "6")
        short = cells["6", column].config
        finer = row == "turned" and "wave" in column
        epochs = 6 if row == "6" else 12 if finer else 18
        training = replace(short.training, epochs=epochs, augment_images=row == "turned")
        settings = {**short.settings, **({"columns": 4} if finer else {})}
        assert cell.config == replace(short, training=training, settings=settings)


def test_fresh_is_table_1_with_new_puzzles():
    table = make_experiment("table1")
    for place in make_experiment("fresh").places:
        same = table.place("fine", place.column).cell.config
        training = replace(same.training, resample_each_epoch=place.row == "new ones")
        assert place.cell.config == replace(same, training=training)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("same-budget", "table1"),
        ("same-budget-cifar100", "table2"),
        ("same-budget-unseen", "table4"),
    ],
)
def test_all_models_of_one_budget_are_trained_alike(name, table):
    experiment, paper = make_experiment(name), make_experiment(table)
    assert experiment.columns == paper.columns
    trainings = {replace(p.cell.config.training, learning_rate=1.0) for p in experiment.places}
    assert len(trainings) == 1
    for place in experiment.places:
        config = place.cell.config
        assert config.task == paper.place("esbn", place.column).cell.config.task
        assert config.training.resample_each_epoch and config.training.augment_images
        assert place.paper is None and config.model == place.row.partition(", ")[0]


def test_continual_learns_together_or_by_a_strategy():
    for place in make_experiment("continual").places:
        config, (strategy, *_) = place.cell.config, place.row.split()
        assert isinstance(config, ContinualConfig) == (strategy != "joint")
        if strategy == "joint":
            continue
        grows = strategy in ("anchor", "grow")
        assert config.strategy == strategy and not config.start_from
        assert config.model == ("fine-grouped" if grows else "fine")
        assert config.settings.get("groups") == (9 if grows else None)


def test_the_paper_has_a_number_for_every_place_of_its_tables_but_ours():
    for name in ("table1", "table2", "table3", "table4"):
        for place in make_experiment(name).places:
            assert (place.paper is None) == (place.row in ("fine", "fine-pyramid")), place


def test_one_configuration_of_ours_serves_every_column_of_tables_1_2_and_4():
    tables = [make_experiment(name) for name in ("table1", "table2", "table4")]
    places = [place for table in tables for place in table.places if place.row == "fine-pyramid"]
    assert len(places) == 10 + 9 + 9
    configs = [place.cell.config for place in places]
    assert all(config.settings == {} for config in configs)
    assert len({replace(config.training, conjugate=0.0) for config in configs}) == 1
    for config in configs:  # puzzles are conjugated only where the test has rules of its own
        assert config.training.conjugate == (0.5 if config.task.test_rules else 0.0)


def test_ours_of_table_4_is_a_row_of_one_budget():
    budget = make_experiment("same-budget-unseen")
    for place in make_experiment("table4").places:
        if place.row == "fine-pyramid":
            assert place.cell == budget.place(place.row, place.column).cell


def test_experiments_share_what_is_the_same():
    by_size = make_experiment("figure-training-size").place("fine-nice", "10000")
    by_encoder = make_experiment("table3").place("fine-nice", "p4-cnn")
    by_memory = make_experiment("figure-memories").place("4", "48")
    assert by_size.cell.key == by_encoder.cell.key == by_memory.cell.key


def test_seeds_come_one_after_the_other_and_cells_once():
    places = make_experiment("table3").places
    wanted = cells((*places, *places), seeds=3)
    assert [cell.seed for cell in wanted] == [0] * 21 + [1] * 21 + [2] * 21
    assert cells(iter(places), seeds=2) == cells(places, seeds=2)


def test_a_part_of_an_experiment_can_be_selected():
    experiment = make_experiment("table1")
    some = experiment.select(models=("esbn", "fine"), columns=("rotation",))
    selected = {(place.row, place.column) for place in some}
    assert selected == {("esbn", "rotation"), ("fine", "rotation")}
    assert experiment.select() == experiment.places
    with pytest.raises(FineError, match="did you mean 'esbn'"):
        experiment.select(models=("esbm",))
    with pytest.raises(FineError, match="did you mean 'rotation'"):
        experiment.select(columns=("rotate",))
    with pytest.raises(FineError, match="did you mean 'table1'"):
        make_experiment("tabel1")


@pytest.mark.parametrize(
    ("size", "epochs"), [(100, 600), (1_000, 60), (10_000, 6), (100_000, 6), (1_000_000, 1)]
)
def test_a_short_training_shows_few_puzzles_as_often_as_many(size, epochs):
    assert for_size(PROTOCOLS["quick"], size).epochs == epochs
    # 200 epochs whatever the size, as in the paper
    assert for_size(PROTOCOLS["paper"], size) == PROTOCOLS["paper"]
