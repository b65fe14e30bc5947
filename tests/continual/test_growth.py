"""Memories that grow: what is old stays as it is, and freezing leaves nothing else to learn."""

from dataclasses import replace

import pytest
import torch

from fine.continual.growth import freeze, grow, grown_to_match, to_continue
from fine.errors import FineError
from fine.models import make_model
from fine.models.fine import FINE, FINEConfig
from fine.models.groups import GroupedFINE, GroupedFINEConfig
from fine.models.surgery import groups_of


def make(**settings: object) -> FINE:
    torch.manual_seed(0)
    return FINE(FINEConfig(**{"slots": 4, **settings}), channels=1, size=32).eval()


def make_grouped(**settings: object) -> GroupedFINE:
    torch.manual_seed(1)
    return GroupedFINE(GroupedFINEConfig(**settings), channels=1, size=32).eval()


@torch.no_grad()
@pytest.mark.parametrize(
    "settings", [{}, {"backbone": "residual", "keys": "shared"}, {"slot_form": "rank-2"}]
)
def test_growing_changes_no_answer(settings, task):
    small = make(**settings)
    large = grow(grow(small))
    assert (large.config.slots, groups_of(large)) == (12, 3)
    images = task.test_puzzles().render(range(20)).images
    torch.testing.assert_close(large(images), small(images))


def test_a_new_group_starts_as_a_copy_of_the_last_with_its_residuals():
    model = make_grouped(slots=4, groups=2)
    (old,) = model.backbone.memories
    old.residuals.learn(1, torch.randn(50, 16, 16))
    (new,) = grow(model).backbone.memories
    assert torch.equal(new.values[:4], old.values)
    assert torch.equal(new.values[4:], old.values[2:])
    assert torch.equal(new.residuals.mean[2], old.residuals.mean[1])
    assert torch.equal(new.residuals.row_covariance[2], old.residuals.row_covariance[1])


def test_a_model_grows_to_as_many_groups_as_another_has():
    small, other = make_grouped(slots=4, groups=2), make_grouped(slots=10, groups=5)
    assert grown_to_match(small, other).config == other.config


def test_a_single_group_starts_from_the_first_slots_of_a_model():
    pretrained, first = make(slots=6), make_grouped(slots=2, groups=1)
    (memory,) = grown_to_match(pretrained, first).backbone.memories
    assert torch.equal(memory.values, pretrained.backbone.memories[0].values[:2])


@pytest.mark.parametrize(
    "other", [{"slots": 8, "groups": 2, "ridge": 0.2}, {"slots": 6, "groups": 2}], ids=str
)
def test_models_that_differ_in_more_than_groups_do_not_match(other):
    with pytest.raises(FineError, match="has other settings than this run"):
        grown_to_match(make(), make_grouped(**other))


# Freezing.


def learns(model: torch.nn.Module) -> set[str]:
    """Parts of a model that learn."""
    return {name.split(".")[0] for name, p in model.named_parameters() if p.requires_grad}


@pytest.mark.parametrize(
    ("strategy", "parts", "group"),
    [
        ("plain", {"encoder", "backbone", "distance"}, None),
        ("rehearsal", {"encoder", "backbone", "distance"}, None),
        ("grow", {"encoder", "backbone", "distance"}, 1),
        ("anchor", {"backbone"}, 1),
    ],
)
def test_a_strategy_freezes_what_must_not_change(strategy, parts, group):
    model = make_grouped(slots=4, groups=2)
    freeze(model, strategy)
    assert learns(model) == parts
    assert model.learning_group == group


def test_models_without_slots_are_refused():
    esbn = make_model("esbn", channels=1, size=32)
    with pytest.raises(FineError, match="only a FINE can learn rules one after another"):
        freeze(esbn, "anchor")
    with pytest.raises(FineError, match="only a FINE can start from another model"):
        grown_to_match(make(), esbn)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slots": 0}, "a model without slots has nothing to grow"),
        ({"analogy": "similarity"}, "cannot grow in groups: expected a model with analogy=least"),
    ],
)
def test_a_memory_that_cannot_grow_is_refused(settings, message):
    with pytest.raises(FineError, match=message):
        grow(make(**settings))


# Where a stage starts.


def test_slots_in_no_group_learn_their_residuals_before_others_come(task, tmp_path):
    old = make()
    old.save_pretrained(tmp_path / "old")
    stage = make_grouped(slots=8, groups=2)
    about = replace(task, rules="swap", test_rules="translation+swap")
    (memory,) = to_continue(str(tmp_path / "old"), about, stage).backbone.memories
    assert memory.residuals.mean[0].any()
    assert torch.equal(memory.residuals.mean[0], memory.residuals.mean[1])  # a copy


def test_which_rules_an_old_model_knows_must_be_said(task, tmp_path):
    make().save_pretrained(tmp_path / "old")
    stage, about = make_grouped(slots=8, groups=2), replace(task, rules="swap")
    with pytest.raises(FineError, match=r"nothing says which rules .* knows: give test_rules"):
        to_continue(str(tmp_path / "old"), about, stage)
