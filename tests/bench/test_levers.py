"""Levers: some only save time and change no number, others do."""

import pytest
import torch
from torch import Tensor

from fine.bench.levers import OTHER_NUMBERS, SAME_NUMBERS, Undoing
from fine.bench.measurements import few_puzzles
from fine.bench.steps import Step
from fine.puzzles import Batch


def after_a_step() -> list[Tensor]:
    """The weights of a new model after one step of the trainer, in double precision."""
    step = Step("fine", few_puzzles(), batch=8)
    step.trainer.model.double()
    images, answers = step.render(step.specs)
    batch = Batch(images.double(), answers)
    step.trainer.step(batch, learning_rate=1e-3, size=len(answers), number=0)
    return [weight.detach() for weight in step.trainer.model.parameters()]


@pytest.fixture(scope="module")
def with_it() -> list[Tensor]:
    return after_a_step()


@pytest.mark.slow
@pytest.mark.parametrize("undoing", SAME_NUMBERS.values(), ids=SAME_NUMBERS)
def test_levers_that_only_save_time_change_no_number(
    with_it: list[Tensor], undoing: Undoing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*undoing)
    for here, there in zip(with_it, after_a_step(), strict=True):
        torch.testing.assert_close(here, there, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("undoing", OTHER_NUMBERS.values(), ids=OTHER_NUMBERS)
def test_the_other_levers_do_change_numbers(
    with_it: list[Tensor], undoing: Undoing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*undoing)
    without_it = after_a_step()
    same_shapes = len(with_it) == len(without_it)
    pairs = zip(with_it, without_it, strict=same_shapes)
    assert not same_shapes or any((one - other).abs().max() > 1e-6 for one, other in pairs)
