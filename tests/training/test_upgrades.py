"""Configurations of earlier formats in today's words; mistakes in them are left for the reader."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.models import MODELS
from fine.puzzles.variants import Variant
from fine.training import RunConfig, Training
from fine.training.run import as_dict, from_dict
from fine.training.upgrades import upgrade_run
from support.fuzzing import JSON

OLD = {"model": "fine", "task": {}, "training": {}, "settings": {}}
"""The least that a config.json of format 1 or 2 holds."""


def upgraded(**parts: Any) -> RunConfig:
    return from_dict(upgrade_run({**OLD, **parts}))


def test_what_an_old_run_leaves_out_has_its_default():
    assert upgraded() == RunConfig()


def test_words_of_training_are_todays():
    training = {"epochs": 3, "rate": 0.5, "clip": 2.0, "fresh": True, "turned": True}
    assert upgraded(training={**training, "views": 8, "through": 0.25, "arrival": ""}) == RunConfig(
        training=Training(
            epochs=3,
            learning_rate=0.5,
            grad_clip=2.0,
            resample_each_epoch=True,
            augment_images=True,
            augment_puzzles=8,
            conjugate=0.25,
        )
    )


def test_a_question_is_a_variant():
    question = {"name": "backwards", "by": "turned", "noise": 0.5}
    variant = Variant("backwards", by="swapped", noise=0.5)
    assert upgraded(question=question) == RunConfig(variant=variant)


def test_a_run_whose_families_arrived_in_turn_is_a_continual_run():
    settings = {"slots": 16, "groups": 2}
    sequence = upgraded(training={"arrival": "grow"}, settings=settings)
    assert sequence == ContinualConfig(model="fine-grouped", settings=settings, strategy="grow")
    stage = upgraded(training={"arrival": "anchor"}, grown_from="runs/before", encoder_from="x")
    assert stage == ContinualConfig(strategy="anchor", start_from="runs/before")
    assert type(upgraded(training={"arrival": ""}, grown_from="")) is RunConfig


def test_a_model_to_go_on_from_needs_a_strategy():
    with pytest.raises(FineError, match="unknown continual learning strategy ''"):
        upgraded(grown_from="runs/before").check()


@pytest.mark.parametrize(
    "config",
    [RunConfig(), RunConfig(model="esbn"), ContinualConfig(strategy="rehearsal")],
    ids=["plain", "esbn", "continual"],
)
def test_what_is_todays_already_stays(config):
    assert from_dict(upgrade_run(as_dict(config))) == config


def test_what_was_given_is_not_changed():
    content = {**OLD, "training": {"rate": 1.0, "arrival": "grow"}, "question": {"by": "turned"}}
    before = {
        name: dict(part) if isinstance(part, dict) else part for name, part in content.items()
    }
    upgrade_run(content)
    assert content == before


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"training": 3}, "training is '3' where Training is expected"),
        ({"training": {"rate": "x"}}, "learning_rate is 'x' where float is expected"),
        ({"training": {"pace": 1}}, "training has 'pace', which is not known here"),
        ({"training": {"arrival": 3}}, "strategy is '3' where str is expected"),
        ({"question": [1]}, r"variant is '\[1\]' where Variant is expected"),
        ({"settings": 1}, "settings is '1' where dict"),
        ({"grown_from": {"a": 1}}, "start_from is .* where str is expected"),
    ],
)
def test_what_does_not_fit_is_named_in_todays_words(parts, message):
    with pytest.raises(ValueError, match=message):
        upgraded(**parts)


PARTS = [*OLD, "question", "grown_from", "encoder_from", "channels"]
WORDS = ["rate", "arrival", "by", "code", "readings", "tied", "standardise", "groups", "symmetry"]


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from(PARTS),
        JSON | st.sampled_from([*MODELS]) | st.dictionaries(st.sampled_from(WORDS), JSON),
    )
)
def test_nothing_is_refused_before_it_is_read(content):
    upgrade_run(content)
