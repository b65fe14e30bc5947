"""Laws of the odd one out: one pair follows another rule, its place tells nothing, and one who knows the rules finds it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from fine import FineError, Task, evaluate, make_model
from fine.functions.answering import Answering
from fine.models.limits import Oracle, Pixels
from fine.puzzles import FIRST, OTHER, RIGHT, SECOND, WRONG
from fine.questions import Question
from fine.rules import Warp

FOUR = Question("odd-one-out", 4)


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation+translation"), test_count=40)


def test_all_pairs_but_one_follow_the_rule(task):
    puzzles = task.test_puzzles(FOUR)
    batch, warp = puzzles.render(range(12)), Warp(puzzles.rules, size=32)
    assert batch.pictures.shape == (12, 8, 1, 32, 32)
    for number, spec in enumerate(puzzles.specs[:12].tolist()):
        images = (spec[FIRST], spec[SECOND], spec[OTHER], spec[7])
        assert len(set(images)) == 4
        for pair, image in enumerate(images):
            x = puzzles.images.pixels[image][None] / 255
            rule = spec[WRONG] if pair == batch.answers[number] else spec[RIGHT]
            torch.testing.assert_close(batch.pictures[number, 2 * pair], x[0])
            torch.testing.assert_close(batch.pictures[number, 2 * pair + 1], warp(x, torch.tensor([rule]))[0])


def test_the_odd_one_is_anywhere(task):
    counts = np.bincount(replace(task, test_count=400).test_puzzles(FOUR).answers, minlength=4)
    # 100 each are expected, with a standard deviation of 8.7; this is beyond four of them.
    assert counts.min() > 65 and counts.max() < 135


@pytest.mark.parametrize("pairs", [3, 5])
def test_one_who_knows_the_rules_finds_it(task, pairs):
    question = Question("odd-one-out", pairs)
    puzzles = task.test_puzzles(question)
    evaluation = evaluate(Answering(Oracle(puzzles.rules, size=32), question), puzzles)
    assert evaluation.accuracy > 0.9 and evaluation.summary()["chance"] == {"blind": 1 / pairs}


@torch.no_grad()
def test_the_order_of_pairs_does_not_matter(task):
    model = make_model("fine", channels=1, size=32).eval()
    pictures = task.test_puzzles(FOUR).render(range(6)).pictures
    turned_round = pictures.unflatten(1, (4, 2)).flip(1).flatten(1, 2)
    logits, other = Answering(model, FOUR)(pictures), Answering(model, FOUR)(turned_round)
    torch.testing.assert_close(other, logits.flip(1), rtol=1e-3, atol=1e-4)


def test_who_composes_no_function_is_told_so():
    with pytest.raises(FineError, match="composes no function"):
        Answering(Pixels(), FOUR)


@pytest.mark.parametrize("question", [("odd-one-out", 5), ("hints", 3), ("backwards", 1), ("chain", 2)])
def test_puzzles_with_another_question_are_drawn(fine, tmp_path, question):
    name, hints = question
    path = tmp_path / "asked.png"
    options = ("--rules", "rotation", "--count", 2, "--ask", name, "--hints", hints, "--answers", "--out", path)
    done = fine("puzzles", *options)
    assert done.code == 0 and str(Question(name, hints)).partition(", by")[0] in done.out
    # Terminals mark what is right once a puzzle, and the sheet has ink all over.
    assert done.out.count("✓") + done.out.count(" v") >= 2
    assert np.asarray(Image.open(path).convert("L")).std() > 10


def test_the_command_evaluates_it(fine):
    done = fine("evaluate", "oracle", "--rules", "rotation", "--test-count", 12, "--ask", "odd-one-out")
    assert done.code == 0 and "the odd one out of 4" in done.out and "guesses among four" in done.out
    assert "ignores the rule" not in done.out
    done = fine("puzzles", "--ask", "odd-one-out", "--hints", 2)
    assert done.code == 2 and "give 3 to 10" in done.err
