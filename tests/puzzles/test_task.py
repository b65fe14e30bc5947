"""Tasks: the paper's sizes, and test classes and rules that training never shows."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from fine.errors import FineError
from fine.puzzles import PRESETS, SECOND, Task

SIZES = {  # classes and puzzles of the paper's tasks
    "omniglot": (100, 800, 10_000, 20_000),
    "cifar100": (50, 50, 10_000, 20_000),
    "extreme-cifar100": (50, 50, 5_000, 10_000),
    "extreme-cifar100-omniglot": (50, 800, 5_000, 10_000),
    "extreme-omniglot-mnist": (100, 10, 5_000, 10_000),
}


def classes_of(puzzles) -> set[int]:
    """The classes of x, x' and x''."""
    return set(puzzles.images.labels.numpy()[puzzles.specs[:, :3]].ravel().tolist())


@pytest.mark.parametrize("name", SIZES)
def test_presets_have_the_sizes_of_the_paper(name):
    task = PRESETS[name]
    sizes = (task.train_classes, task.test_classes, task.train_count, task.test_count)
    assert sizes == SIZES[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [
        PRESETS["glyphs"],
        Task(images="glyphs"),
        Task(images="glyphs", train_classes=30, test_classes=40),
        Task(images="glyphs", test_images="glyphs", train_classes=100, test_classes=100),
    ],
    ids=["preset", "half and half", "a few", "the same source by name"],
)
def test_train_and_test_classes_are_disjoint(task):
    task = replace(task, train_count=500, test_count=500)
    assert not set(task.training_classes) & set(task.testing_classes)
    train, test = task.training_puzzles(), task.test_puzzles()
    assert classes_of(train) <= set(task.training_classes)
    assert classes_of(test) <= set(task.testing_classes)


def test_naming_the_training_source_for_tests_changes_nothing():
    task = Task(images="glyphs", train_classes=100, test_classes=100, test_count=50)
    named = replace(task, test_images="glyphs")
    assert named.testing_classes == task.testing_classes
    assert named.test_puzzles().specs.tolist() == task.test_puzzles().specs.tolist()


def test_validation_touches_no_test_class_and_no_unseen_rule():
    task = Task(train_classes=100, rules="shear:seen", test_rules="shear:unseen", test_count=50)
    validation = replace(task, validation=True)
    assert not set(validation.testing_classes) & set(task.testing_classes)
    both = set(validation.testing_classes) | set(validation.training_classes)
    assert both == set(task.training_classes)
    assert len(validation.testing_classes) == 20
    assert validation.test_puzzles().rules.name == "shear:seen"


def test_extreme_tasks_test_rules_that_training_lacks():
    task = Task.preset("extreme-cifar100", rules="rotation")
    assert (task.rules, task.test_rules) == ("rotation:seen", "rotation:unseen")
    permuted = Task.preset("strings-permuted", rules="all")
    assert (permuted.rules, permuted.test_rules) == ("all", "all:permuted")


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_real_presets_draw_puzzles_over_disjoint_images(name, data_root):
    task = replace(
        Task.preset(name, rules="rotation"),
        data_root=str(data_root),
        train_count=100,
        test_count=100,
    )
    train, test = task.training_puzzles(), task.test_puzzles()
    assert train.render([0]).images.shape == test.render([0]).images.shape
    assert train.render([0]).images.shape[2] == task.image_channels
    counts = (len(task.training_classes), len(task.testing_classes))
    assert counts == SIZES[name][:2]
    if train.images.name == test.images.name:
        assert not set(task.training_classes) & set(task.testing_classes)
    shown = test.images.labels.numpy()[test.specs[:, SECOND]]
    assert set(shown) <= set(task.testing_classes)


@pytest.mark.slow
def test_the_split_of_a_task_does_not_depend_on_the_seed_of_a_run():
    task = Task(images="glyphs", train_count=50)
    first, second = task.training_puzzles(seed=0), task.training_puzzles(seed=1)
    assert first.specs.tolist() != second.specs.tolist()
    shown = classes_of(first), classes_of(second)
    assert shown[0] != shown[1] and shown[0] | shown[1] <= set(task.training_classes)


@pytest.mark.slow
def test_later_epochs_continue_the_numbering():
    task, double = Task(images="glyphs", train_count=50), Task(images="glyphs", train_count=100)
    epochs = [task.training_puzzles(epoch=epoch).specs.tolist() for epoch in (0, 1)]
    assert epochs[0] + epochs[1] == double.training_puzzles().specs.tolist()


@pytest.mark.slow
def test_training_and_test_puzzles_are_drawn_independently():
    task = Task(images="glyphs", train_count=50, test_count=50)
    train, test = task.training_puzzles(), task.test_puzzles()
    assert train.specs[:, 3:].tolist() != test.specs[:, 3:].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("channels", "expected"), [(0, 1), (1, 1), (3, 3)])
def test_images_have_the_channels_of_the_source_or_those_asked_for(channels, expected):
    task = Task(images="glyphs", channels=channels, train_count=2, test_count=2)
    assert task.image_channels == expected
    for puzzles in (task.training_puzzles(), task.test_puzzles()):
        assert puzzles.render([0]).images.shape[2] == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [("omniglott", "did you mean 'omniglot'"), ("cifar", "did you mean 'cifar100'")],
)
def test_unknown_tasks_get_one_helpful_line(name, message):
    with pytest.raises(FineError, match=message):
        Task.preset(name, rules="rotation")


def test_a_folder_is_a_task_of_its_own():
    assert Task.preset("folder:a/b", rules="swap") == Task(
        images="folder:a/b", rules="swap", test_count=5_000
    )


def test_too_few_classes_are_named():
    task = Task(images="glyphs", train_classes=300, test_classes=300)
    with pytest.raises(FineError, match="leaves 100 classes to test on where 300 are needed"):
        _ = task.training_classes
    with pytest.raises(FineError, match="glyphs leaves 400 classes to train on where 500"):
        _ = replace(task, train_classes=500).training_classes


def test_a_source_of_the_mixture_is_tested_on_classes_that_were_not_learned(tmp_path):
    for name in "abcd":
        noise = np.random.default_rng(ord(name)).integers(256, size=(2, 32, 32), dtype=np.uint8)
        (tmp_path / name).mkdir()
        for number, pixels in enumerate(noise):
            Image.fromarray(pixels).save(tmp_path / name / f"{number}.png")
    mixture = Task(f"glyphs+folder:{tmp_path}", "swap", test_images="glyphs", train_classes=150)
    tested = replace(mixture, test_classes=100, test_count=20)
    assert len(tested.testing_class_names) == 100
    assert not tested.testing_class_names & tested.training_class_names
