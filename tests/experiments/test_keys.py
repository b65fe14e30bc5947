"""Keys: a result is found by its key, so no key ever changes."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from fine.continual import ContinualConfig
from fine.experiments import EXPERIMENTS, Cell, Ledger, make_experiment
from fine.experiments.experiment import cells
from fine.experiments.probes import Probe
from fine.experiments.upgrades import upgrade_probe
from fine.models import MODELS
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN, Variant
from fine.training import PROTOCOLS, RunConfig, Training
from fine.training.run import from_dict
from fine.training.upgrades import upgrade_run
from support.experiments import ROTATION

HERE = Path(__file__).parent
KEYS = json.loads((HERE / "keys.json").read_text())
"""Digests of "row | column | key" lines, as the version that first wrote them computed them."""
OLD = json.loads((HERE / "old_configurations.json").read_text())
"""Configurations and probes in the words of format 2 of runs and 1 of ledgers, with their keys."""
FOUND = {
    **{"table1": 80, "table4": 63, "table2": 72, "table3": 12, "figure-memories": 1},
    **{"figure-training-size": 3, "scaling": 2, "fresh": 14, "longer": 10, "hints": 56},
    **{"distractors": 36, "readings": 2, "readings-others": 0},
    **{"hints-by-family": 140, "backwards": 56, "chains": 12, "powers": 40, "odd-one-out": 6},
    **{"trained-for-it": 8, "noticing": 21, "refusing": 7, "calibration": 4, "slots": 54},
    **{"figure-map": 2, "strings": 8, "continual": 8, "memory": 14},
    **{"same-budget": 0, "same-budget-cifar100": 0, "same-budget-unseen": 0},
}
"""Cells of each experiment that have been run: at least so many records are in the ledger."""


@pytest.mark.parametrize("protocol", KEYS)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_cell_of_every_experiment_has_the_key_it_always_had(name, protocol):
    experiment = make_experiment(name, training=PROTOCOLS[protocol])
    lines = (f"{place.row} | {place.column} | {place.cell.key}\n" for place in experiment.places)
    text = "".join(lines)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == KEYS[protocol][name], text


@pytest.mark.parametrize("old", OLD, ids=lambda old: old["key"][-24:])
def test_an_upgraded_configuration_has_the_key_it_always_had(old):
    probe = Probe(**upgrade_probe(old["probe"])) if old["probe"] else None
    assert Cell(from_dict(upgrade_run(old["config"])), probe).key == old["key"]


def test_keys_written_out():
    assert ROTATION.key == "omniglot_rotation_esbn_10000x6_710b7a5b_seed0"
    extreme = RunConfig(
        model="fine-nice",
        task=Task.preset("extreme-cifar100-omniglot", rules="shear"),
        training=replace(PROTOCOLS["paper"], seed=3),
        settings={"slots": "8"},
    )
    key = "cifar100-to-omniglot_shear-seen_fine-nice_slots-8_5000x200_43991866_seed3"
    assert Cell(extreme).key == key
    anchor = make_experiment("continual").place("anchor after patchwork", "cifar100").cell
    key = "cifar100_patchwork+all_fine_groups-9_slots-72_standardise-pair_20000x6_anchor_f2b3d9c6"
    assert anchor.group == key


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_result_in_the_ledger_is_found(name):
    folder = Path(__file__).parents[2] / "results/ledger"
    if not folder.is_dir():
        pytest.skip("the ledger is not part of a source distribution")
    ledger = Ledger(folder)
    wanted = cells(make_experiment(name).places)
    assert sum(map(ledger.has, wanted)) >= FOUND[name]


def changed(**changes: object) -> RunConfig:
    return replace(ROTATION.config, **changes)


def with_task(**changes: object) -> RunConfig:
    return changed(task=replace(ROTATION.config.task, **changes))


def with_training(**changes: object) -> RunConfig:
    return changed(training=replace(ROTATION.config.training, **changes))


@pytest.mark.parametrize(
    "other",
    [
        changed(model="fine"),
        changed(settings={"embedding_size": 64}),
        with_task(rules="shear"),
        with_task(images="mnist"),
        with_task(train_count=9),
        with_task(test_count=9),
        with_task(size=28),
        with_task(channels=3),
        with_task(train_classes=50),
        with_task(test_classes=50),
        with_task(validation=True),
        with_task(test_rules="swap"),
        with_task(test_images="mnist"),
        with_training(epochs=7),
        with_training(batch=32),
        with_training(learning_rate=1e-3),
        with_training(schedule="constant"),
        with_training(grad_clip=1.0),
        with_training(resample_each_epoch=True),
        with_training(augment_images="turns"),
        with_training(augment_images="edges"),
        with_training(augment_puzzles=4),
        with_training(conjugate=0.5),
        with_training(seed=1),
    ],
    ids=lambda config: Cell(config).key,
)
def test_whatever_changes_a_result_changes_the_key(other):
    assert Cell(other).key != ROTATION.key


def test_turns_have_the_key_of_the_switch_that_they_were():
    before = with_training(augment_images=True)
    assert Cell(before).key == "omniglot_rotation_esbn_10000x6_84e29171_seed0"
    assert Cell(with_training(augment_images="turns")).key == Cell(before).key
    keys = {Cell(with_training(augment_images=parts)).key for parts in ("mask+edges", "edges+mask")}
    assert len(keys) == 1


def test_strategy_and_start_of_a_continual_run_are_in_the_key():
    task = Task.preset("omniglot", rules="rotation+swap")
    runs = [
        RunConfig(task=task),
        ContinualConfig(task=task, strategy="plain"),
        ContinualConfig(task=task, strategy="rehearsal"),
        ContinualConfig(task=task, strategy="plain", start_from="affine-omniglot"),
    ]
    assert len({Cell(run).key for run in runs}) == len(runs)


def test_another_default_of_a_model_is_another_cell(monkeypatch):
    before = ROTATION.key
    recipe = MODELS["esbn"]
    other = recipe._replace(config=replace(recipe.config, embedding_size=64))
    monkeypatch.setitem(MODELS, "esbn", other)
    after = Cell(ROTATION.config)
    assert after.settings == ROTATION.settings == {} and after.key != before


def test_a_key_does_not_depend_on_where_the_data_lies_or_how_a_setting_is_written():
    assert Cell(with_task(data_root="/elsewhere")).key == ROTATION.key
    assert Cell(changed(settings={"encoder": "p4-cnn"})).key == ROTATION.key  # the default
    written = (Cell(changed(settings={"embedding_size": size})).key for size in (64, "64"))
    assert len(set(written)) == 1


@pytest.mark.parametrize("model", MODELS)
def test_a_run_that_names_all_its_settings_has_the_same_key(model):
    config = RunConfig(model=model, task=Task.preset("glyphs", rules="rotation"))
    assert Cell(config.complete()).key == Cell(config).key
    assert Cell(config).same_run(config.complete())


def test_cells_of_a_group_differ_in_the_seed_only():
    other = ROTATION.with_seed(4)
    assert other.group == ROTATION.group
    assert other.key == f"{ROTATION.group}_seed4" and other.seed == 4
    assert Cell(changed(training=Training(epochs=7))).group != ROTATION.group


def test_a_key_is_the_name_of_a_file():
    task = Task(images="folder:/home/me/My Pictures/../x", rules="rotation+swap:seen")
    key = Cell(RunConfig(task=task)).key
    assert Path(key).name == key and not set(key) & set(' :/\\"*?<>|')


def test_another_variant_is_another_cell_and_the_plain_one_is_none():
    chains = [Cell(changed(variant=Variant("chain", hints=hints))) for hints in (2, 3)]
    assert len({cell.key for cell in (ROTATION, *chains)}) == 3
    assert Cell(changed(variant=PLAIN)).key == ROTATION.key
