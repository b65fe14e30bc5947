"""One thread and two give the same answers and gradients, but for the order of sums."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from fine.models import make_model
from support.small_models import SMALL


@pytest.fixture
def set_threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def answer(model: nn.Module, images: Tensor) -> tuple[Tensor, Tensor]:
    """The logits of a model, and the gradients of all its weights in one row."""
    model.zero_grad()
    logits = model(images)
    logits.logsumexp(1).sum().backward()
    return logits.detach(), torch.cat([weight.grad.flatten() for weight in model.parameters()])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("precision", "of_logits", "of_gradients"),
    [(torch.float32, 1e-4, 1e-2), (torch.float64, 1e-11, 1e-9)],
    ids=["single", "double"],
)
def test_one_thread_and_two_agree(name, set_threads, precision, of_logits, of_gradients):
    """Within a share of their norm. The last bits of sums differ, and normalising embeddings that
    are almost alike makes that larger: in single precision gradients agree to one part in 10²."""
    torch.manual_seed(0)
    model = make_model(name, channels=1, size=32).to(precision)
    images = torch.rand(8, 7, 1, 32, 32, dtype=precision)
    set_threads(1)
    logits, gradients = answer(model, images)
    set_threads(2)
    other_logits, other_gradients = answer(model, images)
    assert (logits - other_logits).norm() <= of_logits * logits.norm()
    assert (gradients - other_gradients).norm() <= of_gradients * gradients.norm()
