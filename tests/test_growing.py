"""Memories that grow and shrink: what is old stays as it is, and fewer numbers make the matrices they say they make."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fine import FINE, FINEConfig, FineError, RunConfig, Task, Training, load, resume, train
from fine.continual.rehearsal import KEPT, rehearsed
from fine.continual.stages import HELD_EPOCHS, figures
from fine.evaluation import evaluate
from fine.models.growing import compress, grow, memories, most_used, prune, use
from fine.models.memory import FunctionalMemory
from fine.pretrained import picture_models, trained_on
from fine.pretrained.exporting import export
from fine.rules import rule_set, without_starters
from fine.runs import Run

GROWN = {"slots": 6, "groups": 3}
ANCHOR = Training(epochs=1, batch=16, arrival="anchor")


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    """Three families over a few pictures of noise, which are there sooner than glyphs."""
    folder, noise = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for label in "abcdef":
        (folder / label).mkdir()
        for number in range(2):
            pixels = noise.integers(256, size=(32, 32), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{number}.png")
    return replace(Task.preset(f"folder:{folder}", rules="translation+reflection+swap"), train_count=64, test_count=24)


@pytest.fixture(scope="module")
def anchored(task, tmp_path_factory) -> Path:
    """A run whose families came one after another."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(RunConfig(task=task, training=ANCHOR, settings=GROWN), folder)
    return folder


def model(**settings: object) -> FINE:
    torch.manual_seed(0)
    return FINE(FINEConfig(**{"slots": 4, **settings}), channels=1, size=32).eval()


@pytest.fixture(scope="module")
def pictures(task):
    return task.test_puzzles().render(range(20)).pictures


@pytest.mark.parametrize("settings", [{}, {"backbone": "residual", "keys": "shared"}, {"slot_form": "rank-2"}])
def test_growing_changes_no_answer(settings, pictures):
    small = model(**settings)
    large = grow(grow(small))
    assert (large.config.slots, large.config.groups) == (12, 3)
    with torch.no_grad():
        torch.testing.assert_close(large(pictures), small(pictures))


def test_the_group_that_explains_the_pair_answers():
    """Two groups, of which the second is built to hold the very map that made y."""
    torch.manual_seed(0)
    memory = FunctionalMemory(6, 6, slots=4, ridge=1e-6, analogy="fit", keys="shared", groups=2)
    x, hidden = torch.randn(5, 6, 3), torch.randn(6, 6)
    with torch.no_grad():
        memory.values[2] = hidden
        made = memory(x, hidden @ x)
        assert (memory.mix(x, hidden @ x)[:, :2] == 0).all()
    torch.testing.assert_close(made, hidden.expand(5, 6, 6), atol=1e-3, rtol=1e-3)


def test_nothing_old_moves_while_a_rule_is_learnt_with_an_anchor(anchored):
    first, last = load(anchored / "1-translation"), load(anchored / "3-swap")
    old, new = first.state_dict(), last.state_dict()
    for name, tensor in old.items():
        kept = new[name][: len(tensor)] if name.startswith("backbone.memories") else new[name]
        assert torch.equal(kept, tensor), name
    values = new["backbone.memories.0.values"]
    assert not torch.equal(values[:2], values[2:4]) and not torch.equal(values[2:4], values[4:])


def test_growing_without_an_anchor_moves_the_encoder_and_no_old_slot(task, tmp_path):
    train(RunConfig(task=task, training=replace(ANCHOR, arrival="grow"), settings=GROWN), tmp_path / "run")
    old, new = (load(tmp_path / "run" / name).state_dict() for name in ("1-translation", "2-reflection"))
    assert torch.equal(new["backbone.memories.0.keys"][:2], old["backbone.memories.0.keys"])
    assert not torch.equal(new["encoder.layers.0.weight"], old["encoder.layers.0.weight"])


@pytest.mark.parametrize("arrival", ["rehearsal", "anchor"])
def test_a_sequence_stopped_and_resumed_ends_in_the_same_weights(arrival, task, tmp_path):
    settings = GROWN if arrival == "anchor" else {"slots": 2}
    config = RunConfig(task=task, training=Training(epochs=2, batch=16, arrival=arrival), settings=settings)
    train(config, tmp_path / "whole")

    class StopError(Exception):
        pass

    class Told:
        epochs = 0

        def step(self, **_: float) -> None:
            pass

        def epoch(self, **_: float) -> None:
            self.epochs += 1
            if self.epochs == 3:  # in the middle of the second stage
                raise StopError

    with pytest.raises(StopError):
        train(config, tmp_path / "parts", progress=Told())
    assert not Run(tmp_path / "parts").finished
    resume(tmp_path / "parts")
    whole, parts = (load(tmp_path / name).state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    rows = json.loads((tmp_path / "parts/result.json").read_text())["stages"]
    assert [row["family"] for row in rows] == list(rule_set(task.rules).families)
    later = HELD_EPOCHS * 2 if arrival == "anchor" else 2
    assert len((tmp_path / "parts/metrics.csv").read_text().splitlines()) == 1 + 2 + later + later


def test_progress_of_a_sequence_is_that_of_one_run(task, tmp_path):
    class Told:
        def __init__(self) -> None:
            self.done, self.epochs = [], []

        def step(self, *, epoch: int, done: int, **_: float) -> None:
            self.done.append(done)
            assert 1 <= epoch <= 2

        def epoch(self, *, epoch: int, **_: float) -> None:
            self.epochs.append(epoch)

    told = Told()
    training = replace(ANCHOR, epochs=2)
    train(RunConfig(task=task, training=training, settings=GROWN), tmp_path / "run", progress=told)
    assert told.epochs == [1, 2] * 3
    assert told.done == sorted(told.done) and told.done[-1] <= 2 * task.train_count


def test_a_grown_run_is_a_run_like_any_other(anchored, task, tmp_path, fine):
    whole = load(anchored)
    assert (whole.config.slots, whole.config.groups) == (6, 3)
    export(anchored, tmp_path / "model")
    puzzles = task.test_puzzles()
    assert evaluate(load(tmp_path / "model"), puzzles).accuracy == evaluate(whole, puzzles).accuracy
    done = fine("evaluate", anchored)
    assert done.code == 0 and f"{evaluate(whole, puzzles).accuracy:.1%}" in done.out


def test_a_model_is_refused_what_it_cannot_learn(task, tmp_path):
    with pytest.raises(FineError, match="set groups=3"):
        train(RunConfig(task=task, training=ANCHOR), tmp_path / "run")
    with pytest.raises(FineError, match="is one family"):
        train(RunConfig(task=replace(task, rules="swap"), training=ANCHOR), tmp_path / "run")
    with pytest.raises(FineError, match="unknown way for rules to arrive 'grows'"):
        train(RunConfig(task=task, training=replace(ANCHOR, arrival="grows")), tmp_path / "run")
    with pytest.raises(FineError, match="cannot grow in groups"):
        grow(model(analogy="similarity"))
    assert not (tmp_path / "run").exists()


def test_figures_of_a_sequence_worked_out_by_hand():
    rows = [
        {"family": "a", "accuracy": {"a": 0.9, "b": 0.6, "c": 0.5}},
        {"family": "b", "accuracy": {"a": 0.7, "b": 0.8, "c": 0.4}},
        {"family": "c", "accuracy": {"a": 0.8, "b": 0.9, "c": 1.0}},
    ]
    found = figures(rows)
    assert found.average == pytest.approx(0.9)
    assert found.forgetting == pytest.approx(((0.9 - 0.8) + (0.8 - 0.9)) / 2)
    assert found.transfer == pytest.approx(((0.6 - 0.5) + (0.4 - 0.5)) / 2)


def test_rehearsal_shows_the_very_puzzles_of_before(task):
    both = replace(task, rules="reflection+swap", train_count=KEPT + 50)
    mixed, old = rehearsed(both, seed=3), replace(both, rules="reflection").training_puzzles(seed=3)
    assert len(mixed) == KEPT + KEPT + 50
    torch.testing.assert_close(mixed.render([0, 7]).pictures, old.render([0, 7]).pictures)
    assert set(mixed.hidden[KEPT:]) <= set(rule_set("reflection+swap").families["swap"])


def test_a_slot_that_is_not_used_goes_without_a_trace(task, pictures):
    whole = model()
    with torch.no_grad():
        for slots in (whole.backbone.memories[0].values, whole.backbone.memories[0].keys):
            slots[2] = 0
    puzzles = task.test_puzzles()
    assert use(whole, puzzles)[2] == 0 and most_used(whole, puzzles, 3) == [0, 1, 3]
    smaller = prune(whole, keep=most_used(whole, puzzles, 3))
    assert smaller.config.slots == 3
    with torch.no_grad():
        torch.testing.assert_close(smaller(pictures), whole(pictures), atol=1e-4, rtol=1e-4)
        assert not torch.allclose(prune(whole, keep=[0, 1])(pictures), whole(pictures), atol=1e-2)


def test_pruning_a_group_leaves_the_others(pictures):
    small = model()
    large = grow(small)
    with torch.no_grad():
        large.backbone.memories[0].keys[4:] = torch.randn(4, 16, 16)
        torch.testing.assert_close(prune(large, keep=range(4))(pictures), small(pictures))
    with pytest.raises(FineError, match="keep as many of each"):
        prune(large, keep=[0, 1, 4])
    with pytest.raises(FineError, match="from 0 to 7"):
        prune(large, keep=[8])


@pytest.mark.parametrize(("form", "numbers"), [("rank-1", 32), ("rank-4", 128), ("kronecker", 32)])
def test_slots_of_few_numbers_are_read_as_their_products(form, numbers, pictures):
    small = model(slot_form=form)
    (memory,) = memories(small)
    values, keys = memory.matrices()
    assert sum(p.numel() for p in memory.parameters()) == 2 * 4 * numbers
    left, right = memory.values.left, memory.values.right
    for slot in range(4):
        one = torch.kron(left[slot], right[slot]) if form == "kronecker" else left[slot] @ right[slot]
        torch.testing.assert_close(values[slot], one)
    whole = model()
    state = {name: tensor for name, tensor in small.state_dict().items() if "memories" not in name}
    whole.load_state_dict(state | {"backbone.memories.0.values": values, "backbone.memories.0.keys": keys})
    with torch.no_grad():
        torch.testing.assert_close(small(pictures), whole(pictures))


def test_slots_cut_to_their_own_rank_stay_what_they_are(pictures):
    low, whole = model(slot_form="rank-2"), model()
    values, keys = low.backbone.memories[0].matrices()
    state = {name: tensor for name, tensor in low.state_dict().items() if "memories" not in name}
    whole.load_state_dict(state | {"backbone.memories.0.values": values, "backbone.memories.0.keys": keys})
    cut = compress(whole, rank=2)
    assert cut.config.slot_form == "rank-2"
    with torch.no_grad():
        torch.testing.assert_close(cut(pictures), whole(pictures), atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(compress(grow(whole), rank=2)(pictures), whole(pictures), atol=1e-4, rtol=1e-3)
        assert not torch.allclose(compress(whole, rank=1)(pictures), whole(pictures), atol=1e-2)


@pytest.mark.parametrize("form", ["rank-17", "rank-0", "rank", "full"])
def test_a_form_that_slots_cannot_have_is_refused(form):
    with pytest.raises(FineError, match=r"rank"):
        model(slot_form=form)


def test_patchwork_is_no_rule_to_be_tested_on():
    assert "patchwork" not in rule_set("all").families
    both = Task.preset("glyphs", rules="patchwork+swap")
    assert list(both.training_puzzles().rules.families) == ["patchwork", "swap"]
    assert list(both.test_puzzles().rules.families) == ["swap"]
    assert without_starters("patchwork+shear:seen") == "shear:seen" and without_starters("patchwork") == "patchwork"


def test_of_a_start_the_encoder_is_kept_and_no_slot(task, tmp_path):
    starting = replace(task, rules="patchwork+reflection+swap", test_rules="reflection+swap")
    train(RunConfig(task=starting, training=ANCHOR, settings={"slots": 4, "groups": 2}), tmp_path / "run")
    start, last = load(tmp_path / "run/1-patchwork"), load(tmp_path / "run")
    assert (start.config.groups, last.config.groups, last.config.slots) == (0, 2, 4)
    weights, grown = start.state_dict(), last.state_dict()
    assert all(torch.equal(grown[name], weights[name]) for name in weights if not name.startswith("backbone.memories"))
    values = weights["backbone.memories.0.values"]
    assert not torch.equal(grown["backbone.memories.0.values"][:2], values[:2])


def test_a_rule_is_added_to_a_model_of_the_package(fine, tmp_path):
    out = tmp_path / "with-swap"
    done = fine(
        *("learn", "--from", "all-glyphs", "--known", "affine", "--rules", "swap", "--out", out, "--epochs", 1),
        *("--train-count", 64, "--test-count", 40),
    )
    assert done.code == 0 and "all-glyphs knows affine and learns swap" in done.out and "before" in done.out, done.err
    grown, old = load(out), load("all-glyphs")
    assert grown.config == replace(old.config, slots=32, groups=2)
    assert torch.equal(grown.backbone.memories[0].values[:16], old.backbone.memories[0].values)
    again = fine("learn", "--from", out, "--rules", "swap")
    assert again.code == 2 and "knows swap already" in again.err and again.err.count("\n") == 1


def test_what_a_model_knows_goes_with_it(fine, tmp_path):
    model().save_pretrained(tmp_path / "silent")
    told = fine("learn", "--from", tmp_path / "silent", "--rules", "swap")
    assert told.code == 2 and "does not say what it was trained on" in told.err
    assert {name: trained_on(name).rules for name in picture_models()} == {
        "all-glyphs": "all",
        "affine-omniglot": "affine",
        "affine-cifar": "affine",
    }
