import pytest

from fine.errors import FineError
from fine.puzzles import SECOND
from fine.tasks import PRESETS, Task

SIZES = {  # classes and puzzles of the paper's tasks
    "omniglot": (100, 800, 10_000, 20_000),
    "cifar100": (50, 50, 10_000, 20_000),
    "extreme-cifar100": (50, 50, 5_000, 10_000),
    "extreme-cifar100-omniglot": (50, 800, 5_000, 10_000),
    "extreme-omniglot-mnist": (100, 10, 5_000, 10_000),
}


@pytest.mark.parametrize("name", SIZES)
def test_presets_have_the_sizes_of_the_paper(name):
    task = PRESETS[name]
    assert (task.train_classes, task.test_classes, task.train_count, task.test_count) == SIZES[name]


def test_train_and_test_classes_are_disjoint():
    for task in (PRESETS["glyphs"], Task(images="glyphs")):
        assert not set(task.training_classes) & set(task.testing_classes)
        train, test = task.training_puzzles(), task.test_puzzles()
        labels = train.images.labels.numpy()
        assert not set(labels[train.specs[:, :3]].ravel()) & set(labels[test.specs[:, :3]].ravel())


def test_validation_touches_no_test_class_and_no_unseen_rule():
    task = Task(images="glyphs", train_classes=100, rules="shear:seen", test_rules="shear:unseen", test_count=50)
    validation = Task(**{**vars_of(task), "validation": True})
    assert not set(validation.testing_classes) & set(task.testing_classes)
    assert set(validation.testing_classes) | set(validation.training_classes) == set(task.training_classes)
    assert validation.test_puzzles().rules.name == "shear:seen"


def vars_of(task):
    return {name: getattr(task, name) for name in task.__dataclass_fields__}


def test_extreme_tasks_test_rules_that_training_lacks():
    task = Task.preset("extreme-cifar100", rules="rotation")
    assert (task.rules, task.test_rules) == ("rotation:seen", "rotation:unseen")


@pytest.mark.parametrize("name", list(SIZES))
def test_real_presets_draw_puzzles_over_disjoint_pictures(name, data_root):
    from dataclasses import replace

    rules = "rotation"
    task = replace(Task.preset(name, rules=rules), data_root=str(data_root), train_count=100, test_count=100)
    train, test = task.training_puzzles(), task.test_puzzles()
    assert train.render([0]).pictures.shape == test.render([0]).pictures.shape
    assert len(task.training_classes) == SIZES[name][0] and len(task.testing_classes) == SIZES[name][1]
    if train.images.name == test.images.name:
        assert not set(task.training_classes) & set(task.testing_classes)
    assert set(test.images.labels.numpy()[test.specs[:, SECOND]]) <= set(task.testing_classes)


def test_the_split_of_a_task_does_not_depend_on_the_seed_of_a_run():
    task = Task(images="glyphs", train_count=50)
    first, second = task.training_puzzles(seed=0), task.training_puzzles(seed=1)
    assert first.specs.tolist() != second.specs.tolist()
    labels = first.images.labels.numpy()
    shown = [set(labels[puzzles.specs[:, :3]].ravel()) for puzzles in (first, second)]
    assert shown[0] != shown[1] and shown[0] | shown[1] <= set(task.training_classes)


def test_later_epochs_continue_the_numbering():
    task = Task(images="glyphs", train_count=50)
    double = Task(images="glyphs", train_count=100)
    both = [task.training_puzzles(epoch=epoch).specs.tolist() for epoch in (0, 1)]
    assert both[0] + both[1] == double.training_puzzles().specs.tolist()


@pytest.mark.parametrize(("name", "message"), [("omniglott", "did you mean 'omniglot'"), ("cifar", "did you mean 'cifar100'")])
def test_unknown_tasks_get_one_helpful_line(name, message):
    with pytest.raises(FineError, match=message):
        Task.preset(name, rules="rotation")


def test_too_few_classes_are_named():
    with pytest.raises(FineError, match="leaves 100 classes to test on where 300 are needed"):
        _ = Task(images="glyphs", train_classes=300, test_classes=300).training_classes
