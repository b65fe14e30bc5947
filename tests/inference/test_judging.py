"""Laws of judging: "none of these" is answered where it should be, and the answer itself stays."""

from dataclasses import replace

import pytest
import torch

from fine import FineError, Task, solve
from fine.evaluation.calibration import calibrate, held_back
from fine.evaluation.ood import NO_RIGHT_CHOICE, RANDOM_PAIRS, ood_puzzles
from fine.inference.judging import NONE_FITS, UNKNOWN_RULE, CalibratedAnswer, judge


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation"), test_count=30)


@pytest.fixture(scope="module")
def calibration(glyph_model, task):
    return calibrate(glyph_model, held_back(task, 100))


@pytest.fixture(scope="module")
def judged(glyph_model, calibration):
    def judge_all(puzzles: torch.Tensor) -> list[CalibratedAnswer]:
        return [
            judge(glyph_model, calibration, x, y, new, choices) for x, y, new, *choices in puzzles
        ]

    return judge_all


@pytest.mark.slow
def test_known_rules_are_answered(task, judged):
    answers = judged(task.test_puzzles().render(range(30)).images)
    assert sum(answer.none for answer in answers) <= 8  # 5 % are expected, and classes are new
    assert all(0 < answer.confidence <= 1 for answer in answers)


@pytest.mark.slow
def test_unknown_rules_and_missing_answers_are_noticed(task, judged):
    pairs = judged(ood_puzzles(task, RANDOM_PAIRS))
    assert sum(UNKNOWN_RULE in answer.doubts for answer in pairs) >= 15
    rest = judged(ood_puzzles(task, NO_RIGHT_CHOICE))
    assert sum(NONE_FITS in answer.doubts for answer in rest) >= 10


@pytest.mark.slow
def test_the_answer_is_to_the_last_digit_what_solve_gives(glyph_model, task, judged):
    puzzles = task.test_puzzles().render(range(5)).images
    for answer, (x, y, new, *choices) in zip(judged(puzzles), puzzles, strict=True):
        assert answer.answer == solve(glyph_model, x, y, new, choices)


def test_choices_may_come_one_at_a_time(glyph_model, calibration, task):
    x, y, new, *choices = task.test_puzzles().render([0]).images[0]
    listed = judge(glyph_model, calibration, x, y, new, choices)
    assert judge(glyph_model, calibration, x, y, new, iter(choices)) == listed


def test_fewer_than_two_choices_are_refused(glyph_model, calibration, drawing):
    with pytest.raises(FineError, match="there are 1 choices"):
        judge(glyph_model, calibration, drawing, drawing, drawing, [drawing])
