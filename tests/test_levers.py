"""The levers of benchmarks/levers.py that claim only to save time: the same numbers with them and without."""

import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from fine.bench.steps import Step
from fine.puzzles import Batch
from fine.tasks import Task

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from levers import OTHER_NUMBERS, SAME_NUMBERS, Undoing


def after_a_step() -> list[Tensor]:
    """The weights of a new model after one step of the trainer, in double precision."""
    step = Step("fine", Task.preset("glyphs", rules="affine"), batch=8)
    step.trainer.model.double()
    pictures, answers = step.render(step.specs)
    step.trainer._step(Batch(pictures.double(), answers), 1e-3, len(answers), 0)
    return [weight.detach() for weight in step.trainer.model.parameters()]


@pytest.mark.parametrize("undoing", [pytest.param(undoing, id=lever) for lever, undoing in SAME_NUMBERS.items()])
def test_levers_that_only_save_time_change_no_number(undoing: Undoing, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = after_a_step()
    monkeypatch.setattr(*undoing)
    for here, there in zip(with_it, after_a_step(), strict=True):
        torch.testing.assert_close(here, there, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("undoing", [pytest.param(undoing, id=lever) for lever, undoing in OTHER_NUMBERS.items()])
def test_the_other_levers_do_change_numbers(undoing: Undoing, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = after_a_step()
    monkeypatch.setattr(*undoing)
    without_it = after_a_step()
    assert len(with_it) != len(without_it) or any((a - b).abs().max() > 1e-6 for a, b in zip(with_it, without_it, strict=True))
