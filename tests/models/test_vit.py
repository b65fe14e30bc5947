"""The Vision Transformer against a slow version of every patch, head and layer."""

import pytest
import torch
import torch.nn.functional as F

from fine.errors import FineError
from fine.models import make_model
from support.slow_models import slow_vit


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.slow
def test_it_is_its_slow_version():
    model = make_model("vit", channels=3, size=32, settings={"layers": 2}).double()
    for weight in model.parameters():
        if weight.ndim < 2:
            torch.nn.init.normal_(weight, mean=0.3, std=0.3)
    images = torch.rand(1, 7, 3, 32, 32).double()
    fast = model(images)
    slow = torch.stack([slow_vit(model, puzzle) for puzzle in images])
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-11)
    answers = torch.tensor([1])
    losses = [F.cross_entropy(logits, answers) for logits in (fast, slow)]
    weights = list(model.parameters())
    gradients = [torch.autograd.grad(loss, weights) for loss in losses]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-11)
    assert all(gradient.abs().max() > 0 for gradient in gradients[0][:-1])


def test_the_order_of_choices_does_not_matter_and_their_number_is_free():
    model = make_model("vit", channels=1, size=28).eval()
    images, order = torch.rand(2, 7, 1, 28, 28), torch.tensor([2, 0, 3, 1])
    shuffled = torch.cat((images[:, :3], images[:, 3:][:, order]), dim=1)
    torch.testing.assert_close(model(shuffled), model(images)[:, order], rtol=1e-4, atol=1e-5)
    assert model(images[:, :5]).shape == (2, 2)


def test_every_image_is_context_for_every_choice():
    model, images = make_model("vit", channels=1, size=32).eval(), torch.rand(1, 7, 1, 32, 32)
    before = model(images)
    for n in range(7):
        other = images.clone()
        other[:, n] = torch.rand(1, 1, 32, 32)
        assert ((model(other) - before).abs() > 0).all(), n


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grid": 5}, "32×32 cannot be cut into 5×5"),
        ({"heads": 5}, "does not fit 5 heads"),
        ({"layers": 0}, "layers is 0: give at least 1"),
    ],
)
def test_impossible_settings_are_refused_in_one_line(settings, message):
    with pytest.raises(FineError, match=message):
        make_model("vit", channels=1, size=32, settings=settings)
