"""Laws of the other questions: pictures are what the spec says, nothing leaks, and one who knows the rules can answer them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fine import FineError, Task, evaluate, make_model
from fine.functions.answering import Answering
from fine.models.limits import Oracle, Pixels
from fine.puzzles import FIRST, OTHER, RIGHT, SECOND, WRONG
from fine.questions import FORWARDS, Question
from fine.rules import Warp

QUESTIONS = [Question("hints", 3), Question("backwards"), Question("chain", 2), Question("chain", 3)]


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation+translation"), test_count=60)


@pytest.fixture(scope="module")
def warp(task) -> Warp:
    return Warp(task.test_puzzles().rules, size=32)


def shown(puzzles, warp: Warp, image: int, *rules: int) -> torch.Tensor:
    picture = puzzles.images.pixels[image : image + 1] / 255
    for rule in rules:
        picture = warp(picture, torch.tensor([rule]))
    return picture[0]


def test_one_plain_hint_is_the_plain_puzzle(task):
    assert type(task.test_puzzles(FORWARDS)) is type(task.test_puzzles())
    asked = task.test_puzzles(Question("hints", 2))
    plain, more = task.test_puzzles().render(range(9)), asked.render(range(9))
    assert torch.equal(more.pictures[:, :2], plain.pictures[:, :2])
    assert torch.equal(more.pictures[:, 4:], plain.pictures[:, 2:]) and torch.equal(more.answers, plain.answers)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_a_puzzle_is_the_same_however_many_are_asked(task, question):
    some = replace(task, test_count=20).test_puzzles(question)
    assert np.array_equal(task.test_puzzles(question).specs[:20], some.specs)


def test_all_hints_show_one_rule_on_pictures_of_other_classes(task, warp):
    puzzles = task.test_puzzles(Question("hints", 4))
    batch, labels = puzzles.render(range(10)), puzzles.images.labels.numpy()
    for number, spec in enumerate(puzzles.specs[:10].tolist()):
        for hint, image in enumerate((spec[FIRST], *spec[6:])):
            torch.testing.assert_close(batch.pictures[number, 2 * hint + 1], shown(puzzles, warp, image, spec[RIGHT]))
    assert (labels[puzzles.specs[:, 6:]] != labels[puzzles.specs[:, [SECOND]]]).all()
    assert set(labels[puzzles.specs[:, 6:]].ravel()) <= set(task.testing_classes)


def test_backwards_the_hidden_rule_takes_the_answer_to_what_is_shown(task, warp):
    puzzles = task.test_puzzles(Question("backwards"))
    batch = puzzles.render(range(20))
    for number, spec in enumerate(puzzles.specs[:20].tolist()):
        rule = int(puzzles.hidden[number])
        torch.testing.assert_close(batch.pictures[number, 1], shown(puzzles, warp, spec[FIRST], rule))
        torch.testing.assert_close(batch.pictures[number, 2], shown(puzzles, warp, spec[SECOND], spec[RIGHT], rule))
        answer = batch.pictures[number, 3 + batch.answers[number]]
        torch.testing.assert_close(answer, shown(puzzles, warp, spec[SECOND], spec[RIGHT]))


def test_a_chain_goes_through_its_rules_in_the_order_of_the_hints(task, warp):
    puzzles = task.test_puzzles(Question("chain", 3))
    batch = puzzles.render(range(20))
    places = set()
    for number, (spec, kinds) in enumerate(zip(puzzles.specs[:20].tolist(), puzzles.kinds.tolist(), strict=False)):
        place, *links = spec[6:]
        images, right = links[::2], links[1::2]
        images.insert(place, spec[FIRST])
        wrong = [*right[:place], spec[WRONG], *right[place:]]
        right.insert(place, spec[RIGHT])
        places.add(place)
        for hint, (image, rule) in enumerate(zip(images, right, strict=True)):
            torch.testing.assert_close(batch.pictures[number, 2 * hint + 1], shown(puzzles, warp, image, rule))
        made = [shown(puzzles, warp, image, *rules) for image in (spec[SECOND], spec[OTHER]) for rules in (right, wrong)]
        torch.testing.assert_close(batch.pictures[number, 7:], torch.stack([made[kind] for kind in kinds]))
    assert places == {0, 1, 2}


@pytest.mark.parametrize("question", [*QUESTIONS, Question("hints", 2, noise=0.05), Question("hints", 2, covered=0.1)], ids=str)
def test_one_who_knows_the_rules_can_answer(task, question):
    puzzles = task.test_puzzles(question)
    # Nothing but the rules is needed; a few hints leave the picture or lie under the square.
    assert evaluate(Answering(Oracle(puzzles.rules, size=32), question), puzzles).accuracy > 0.9


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_no_two_choices_look_alike(task, question):
    choices = task.test_puzzles(question).render(range(60)).pictures[:, -4:].flatten(2)
    distance = torch.cdist(choices, choices, p=1) / 1024
    distance.diagonal(dim1=1, dim2=2).fill_(1)
    assert distance.min() > 0.005


def test_one_hint_is_answered_as_the_model_answers(task):
    model = make_model("fine", channels=1, size=32).eval()
    batch = task.test_puzzles().render(range(8))
    with torch.no_grad():
        torch.testing.assert_close(Answering(model, FORWARDS)(batch.pictures), model(batch.pictures))


@pytest.mark.parametrize("standardise", ["picture", "pair"])
@pytest.mark.parametrize("question", [*QUESTIONS, *(Question("backwards", by=by) for by in ("turned", "tried"))], ids=str)
def test_no_answer_depends_on_the_order_of_the_choices(task, question, standardise):
    model = make_model("fine", channels=1, size=32, settings={"standardise": standardise}).eval()
    pictures = task.test_puzzles(question).render(range(6)).pictures
    first = pictures.shape[1] - 4
    turned_round = torch.cat((pictures[:, :first], pictures[:, first:].flip(1)), dim=1)
    with torch.no_grad():
        logits, other = Answering(model, question)(pictures), Answering(model, question)(turned_round)
    torch.testing.assert_close(other, logits.flip(1), rtol=1e-3, atol=1e-4)


def test_noise_and_squares_spoil_the_hints_and_nothing_else(task):
    clean = task.test_puzzles().render(range(20)).pictures
    noisy = task.test_puzzles(Question(noise=0.3)).render(range(20)).pictures
    covered = task.test_puzzles(Question(covered=0.25)).render(range(20)).pictures
    assert torch.equal(noisy[:, 2:], clean[:, 2:]) and torch.equal(covered[:, 2:], clean[:, 2:])
    changed = (noisy[:, :2] != clean[:, :2]).float().mean()
    assert changed == pytest.approx(0.3, abs=0.02)  # 40,960 pixels: four standard deviations are 0.009
    assert (covered[:, :2] <= clean[:, :2]).all() and (covered[:, :2] < clean[:, :2]).flatten(1).any(1).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Question("sideways"), "unknown question"),
        (lambda: Question("chain", 1), "give 2 to 10"),
        (lambda: Question("backwards", 2), "give 1"),
        (lambda: Question(noise=1.0), "less than 1"),
        (lambda: Question("backwards", by="magic"), "unknown way backwards"),
        (lambda: Answering(Pixels(), Question("chain", 2)), "composes no function"),
        (lambda: Answering(Pixels(), Question("backwards")), "ask --by turned"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(make, message):
    with pytest.raises(FineError, match=message):
        make()


def test_the_command_asks(fine, tmp_path):
    done = fine("evaluate", "oracle", "--rules", "rotation", "--test-count", 20, "--ask", "backwards", "--by-rule")
    assert done.code == 0 and "asked: backwards" in done.out
    done = fine("evaluate", "pixels", "--test-count", 5, "--ask", "chain")
    assert done.code == 2 and "composes no function" in done.err
    done = fine("evaluate", "oracle", "--test-count", 5, "--ask", "chain", "--picture", tmp_path / "sheet.png")
    assert done.code == 0 and (tmp_path / "sheet.png").exists()
