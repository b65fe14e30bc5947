"""Protocols: how the learning rate moves, and what cannot be trained."""

from dataclasses import replace

import pytest

from fine.errors import FineError
from fine.images.augmentation import PARTS
from fine.puzzles.task import Task
from fine.training import PROTOCOLS, RunConfig, Training


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs is 0: give at least 1"),
        ({"batch": 1}, "batch is 1: give at least 2"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0: give a positive number"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"grad_clip": 0.0}, "grad_clip is 0.0"),
        ({"schedule": "onecycle"}, "did you mean 'one-cycle'"),
        ({"augment_puzzles": 2}, "augment_puzzles is 2: give 1"),
        ({"conjugate": 1.5}, "conjugate is 1.5: give the share"),
        ({"unaugmented": 1.0}, "unaugmented is 1.0: give the share"),
        ({"unaugmented": 0.5}, "no image is augmented: give augment_images"),
        ({"augment_images": "edgs"}, "did you mean 'edges'"),
        ({"augment_images": "all+mask"}, "names 'all' and others"),
        ({"seed": 2**40}, "seed is"),
    ],
)
def test_impossible_training_is_refused(change, message):
    with pytest.raises(FineError, match=message):
        replace(Training(), **change).check()


@pytest.mark.parametrize("training", PROTOCOLS.values(), ids=PROTOCOLS)
def test_protocols_can_be_trained(training):
    training.check()


def test_the_learning_rate_rises_and_falls_once():
    training = PROTOCOLS["quick"]
    rates = [training.learning_rate_at(step, 100) for step in range(100)]
    peak = rates.index(max(rates))
    assert rates[peak] == training.learning_rate and peak == 30
    assert rates[:peak] == sorted(rates[:peak])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert 0 < rates[-1] < training.learning_rate / 100


def test_a_constant_learning_rate_is_constant():
    training = PROTOCOLS["paper"]
    assert {training.learning_rate_at(step, 100) for step in range(100)} == {5e-4}


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_of_a_few_steps_has_positive_learning_rates(steps):
    rates = [Training().learning_rate_at(step, steps) for step in range(steps)]
    assert all(0 < rate <= Training().learning_rate for rate in rates)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"seed": 3}, True),
        ({"resample_each_epoch": True}, False),
        ({"augment_images": True}, False),
        ({"augment_images": "mask"}, False),
        ({"augment_images": ""}, True),
        ({"augment_puzzles": 4}, False),
        ({"conjugate": 0.1}, False),
    ],
)
def test_epochs_show_the_same_images_unless_something_changes_them(change, same):
    assert replace(Training(), **change).shows_the_same is same


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (False, ()),
        ("", ()),
        (True, ("turns",)),
        ("turns", ("turns",)),
        ("mask+edges+mask", ("edges", "mask")),
        ("all", PARTS),
    ],
)
def test_the_same_augmentation_is_the_same_training(given, parts):
    training = Training(augment_images=given)
    assert training.image_parts == parts and training.augment_images == "+".join(parts)
    assert training == Training(augment_images="+".join(parts)) == replace(training)


def test_an_encoder_of_strings_on_images_is_refused():
    config = RunConfig(task=Task.preset("glyphs", rules="swap"), settings={"encoder": "strings"})
    with pytest.raises(FineError, match="encoder=strings reads grids of letters"):
        config.check()
