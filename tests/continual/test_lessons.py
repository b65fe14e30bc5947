"""Lessons: one more rule for a trained model, which keeps what it knows to the bit."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fine.continual import Lesson
from fine.continual.lessons import LESSON, PUZZLES, free_folder
from fine.errors import FineError
from fine.models import make_model
from fine.models.fine import FINE, FINEConfig
from fine.models.groups import GroupedFINEConfig
from fine.models.hub import save_model
from fine.pretrained import load
from fine.training import Run, train

TINY = {"train_count": 32, "test_count": 12, "train_classes": 20, "test_classes": 20}


def test_a_lesson_is_about_the_new_rules_and_tested_on_all():
    lesson = Lesson.about("all-glyphs", rules="swap", known="affine")
    config, old = lesson.config, load("all-glyphs").config
    assert lesson.known == "affine"
    assert (config.task.rules, config.task.test_rules) == ("swap", "affine+swap")
    assert config.task.train_count == PUZZLES and config.training == LESSON
    assert (config.strategy, config.start_from) == ("anchor", "all-glyphs")
    grouped = {**vars(old), "slots": 2 * old.slots}
    assert (config.model, config.settings) == ("fine-grouped", {**grouped, "groups": 2})


def test_what_a_model_knows_is_found_in_its_folder():
    assert Lesson.about("affine-omniglot", rules="swap").known == "affine"
    other_images = Lesson.about("affine-omniglot", rules="swap", task="glyphs")
    assert other_images.known == "affine" and other_images.config.task.images == "glyphs"


@pytest.fixture(scope="module")
def taught(tmp_path_factory) -> Path:
    """`all-glyphs`, after a lesson of a few steps."""
    folder = tmp_path_factory.mktemp("runs") / "taught"
    lesson = Lesson.about(
        "all-glyphs", rules="swap", known="affine", training=replace(LESSON, epochs=1, batch=16)
    )
    train(lesson.change(**TINY).config, folder)
    return folder


@pytest.mark.slow
def test_a_lesson_changes_nothing_old(taught):
    old, new = load("all-glyphs"), load(taught)
    expected = GroupedFINEConfig(**{**vars(old.config), "slots": 2 * old.config.slots}, groups=2)
    assert new.config == expected
    before, after = old.state_dict(), new.state_dict()
    for name, tensor in before.items():
        kept = after[name].chunk(2)[0] if "memories" in name else after[name]
        assert torch.equal(kept, tensor), name
    slots = after["backbone.memories.0.values"].chunk(2)
    assert not torch.equal(slots[0], slots[1])


@pytest.mark.slow
def test_a_taught_model_can_have_another_lesson(taught):
    again = Lesson.about(str(taught), rules="black-white")
    assert again.known == "affine+swap"
    assert again.config.settings["groups"] == 3
    model = again.change(**TINY).config.start()
    (memory,) = model.backbone.memories
    assert torch.equal(memory.values[:32], load(taught).backbone.memories[0].values)


@pytest.mark.slow
def test_the_run_of_a_lesson_is_read_again(taught):
    config = Run(taught).config()
    assert (config.strategy, config.start_from) == ("anchor", "all-glyphs")


def test_rules_that_are_known_already_are_refused():
    with pytest.raises(FineError, match="all-glyphs knows swap already: give rules that are not"):
        Lesson.about("all-glyphs", rules="swap")


def test_a_folder_that_does_not_say_what_it_knows_has_to_be_told(tmp_path):
    torch.manual_seed(0)
    FINE(FINEConfig(), channels=1, size=32).save_pretrained(tmp_path / "silent")
    source = str(tmp_path / "silent")
    with pytest.raises(FineError, match="does not say what it was trained on: give --task"):
        Lesson.about(source, rules="swap")
    with pytest.raises(FineError, match="does not say what it was trained on"):
        Lesson.about(source, rules="swap", task="glyphs")
    assert Lesson.about(source, rules="swap", task="glyphs", known="shear").known == "shear"


def test_a_model_of_the_paper_cannot_grow(tmp_path):
    save_model(make_model("fine-nice", channels=1, size=32), tmp_path)
    with pytest.raises(FineError, match="is a model of the paper, whose memory cannot grow"):
        Lesson.about(str(tmp_path), rules="swap", task="glyphs", known="shear")


def test_a_lesson_has_a_folder_of_its_own_by_default():
    assert free_folder("models/mine", "swap") == Path("runs/mine+swap")
