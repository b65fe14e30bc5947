"""Options become the configuration that a Python program would make."""

from dataclasses import fields, replace

import pytest
import tyro

from fine.cli.learn import Learn
from fine.cli.options import ContinualOptions, TaskOptions, TrainingOptions, VariantOptions
from fine.cli.reproduce import Reproduce
from fine.cli.train import Train
from fine.continual import ContinualConfig
from fine.continual.lessons import LESSON, PUZZLES
from fine.images.augmentation import PARTS
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN, Variant
from fine.training import PROTOCOLS, Training
from fine.training.run import RunConfig


def names(*groups: type) -> set[str]:
    return {field.name for group in groups for field in fields(group)}


def train(*arguments: str) -> Train:
    return tyro.cli(Train, args=arguments)


def test_everything_about_a_training_is_an_option():
    assert names(Training) <= names(Train, TrainingOptions)
    assert names(Variant) - {"name"} <= names(VariantOptions)
    assert names(TrainingOptions) - names(Training) == {"protocol"}
    assert names(TaskOptions) <= names(Task) and names(ContinualOptions) <= names(ContinualConfig)


def test_without_options_a_run_is_the_one_that_python_has_by_default():
    assert train().config() == RunConfig(task=Task.preset("glyphs", rules="affine"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_not_given_is_as_the_protocol_has_it(protocol):
    assert train("--protocol", protocol).config().training == PROTOCOLS[protocol]
    changed = train("--protocol", protocol, "--batch", "5", "--augment-images").config().training
    assert changed == replace(PROTOCOLS[protocol], batch=5, augment_images=True)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([], ""),
        (["--augment-images"], "turns"),
        (["--augment-images", "turns"], "turns"),
        (["--augment-images", "mask+edges"], "edges+mask"),
        (["--augment-images", "mask", "edges", "--batch", "8"], "edges+mask"),
        (["--augment-images", "all"], "+".join(PARTS)),
    ],
)
def test_parts_of_the_augmentation_are_words_or_joined(words, parts):
    assert train(*words).config().training.augment_images == parts


def test_quick_has_a_meaning_of_its_own_for_strings():
    of_strings = train("--task", "strings", "--rules", "all", "--seed", "2").config()
    assert of_strings.training == replace(PROTOCOLS["strings"], seed=2)
    assert of_strings.settings["encoder"] == "strings"
    paper = train("--task", "strings", "--rules", "all", "--protocol", "paper").config()
    assert paper.training == PROTOCOLS["paper"]


@pytest.mark.parametrize("preset", ["glyphs", "extreme-cifar100", "strings-permuted"])
def test_what_is_not_given_is_as_the_task_has_it(preset):
    task = Task.preset(preset, rules="rotation")
    assert train("--task", preset, "--rules", "rotation").config().task == task
    options = ("--train-count", "7", "--size", "28", "--validation", "--data-root", "here")
    changed = replace(task, train_count=7, size=28, validation=True, data_root="here")
    assert train("--task", preset, "--rules", "rotation", *options).config().task == changed


def test_a_continual_learning_strategy_makes_a_continual_run():
    config = train("--continual", "rehearsal", "--seed", "4", "--set", "slots=3").config()
    plain = train("--seed", "4", "--set", "slots=3").config()
    assert config == ContinualConfig(**vars(plain), strategy="rehearsal")
    assert type(plain) is RunConfig


@pytest.mark.parametrize(
    ("arguments", "usual", "expected"),
    [
        ([], PLAIN, PLAIN),
        ([], Variant("chain", 3, by="tried"), Variant("chain", 3, by="tried")),
        (["--noise", "0.1"], PLAIN, Variant(noise=0.1)),
        (["--noise", "0.1"], Variant("chain", 3), Variant("chain", 3, noise=0.1)),
        (["--by", "swapped"], Variant("backwards"), Variant("backwards", by="swapped")),
        (["--variant", "hints"], Variant("chain", 3, noise=0.1), PLAIN),
        (["--variant", "chain"], PLAIN, Variant("chain", 2)),
        (["--variant", "odd-one-out"], PLAIN, Variant("odd-one-out", 4)),
        (
            ["--variant", "chain", "--hints", "4", "--covered", "0.2"],
            PLAIN,
            Variant("chain", 4, 0, 0.2),
        ),
    ],
)
def test_a_variant_is_named_or_is_the_usual_one_with_changes(arguments, usual, expected):
    assert tyro.cli(VariantOptions, args=arguments).make(usual) == expected


def test_a_lesson_shows_its_own_defaults():
    command = tyro.cli(Learn, args=["--from", "all-glyphs", "--rules", "swap"])
    assert (command.epochs, command.learning_rate) == (LESSON.epochs, LESSON.learning_rate)
    assert command.puzzles.train_count == PUZZLES


def test_a_table_is_named_after_what_is_not_as_usual():
    def name(*arguments: str) -> str:
        command = tyro.cli(Reproduce, args=["table1", *arguments])
        return command._file_name(command._experiment("table1"))

    assert name() == name("--data-root", "somewhere") == "table1"
    assert name("--images", "folder:a/b") == "table1-folder-a-b"
    options = ("--protocol", "paper", "--epochs", "3", "--test-count", "9", "--resample-each-epoch")
    assert name(*options) == "table1-paper-3-epochs-resample-each-epoch-9-test-count"
