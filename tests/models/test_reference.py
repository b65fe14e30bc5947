"""The default model and a slow reference give the same numbers, forward and backward."""

import pytest
import torch

from fine.models import make_model
from support.slow_fine import SlowFINE

SETTINGS = {
    "the default": {},
    "pairs in one light": {"standardise": "pair"},
    "images as they are": {"standardise": "none", "auxiliary_queries": 1},
    "no symmetry": {"symmetry": "none", "keys": "own"},
    "a two-sided orbit": {"symmetry": "two-sided", "slots": 2, "auxiliary_queries": 0},
    "a residual backbone": {"backbone": "residual", "keys": "shared"},
    "rotations only": {"encoder": "p4-cnn"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_the_model_is_the_slow_reference(settings):
    torch.manual_seed(0)
    images, answers = torch.rand(2, 7, 1, 32, 32, dtype=torch.float64), torch.tensor([3, 0])
    model = make_model("fine", channels=1, size=32, settings={"slots": 3, **settings}).double()
    with torch.no_grad():
        model(images)  # so that running statistics are not 0 and 1
    model.eval()  # the reference sees one image of a puzzle at a time, and would normalise it alone
    results = []
    for each in (model, SlowFINE(model)):
        logits, losses = each.learn(images, answers)
        gradients = torch.autograd.grad(losses.sum(), model.parameters())
        results.append((logits, losses, *gradients))
    for fast, slow in zip(*results, strict=True):
        assert (fast - slow).norm() <= 1e-9 * slow.norm()
    torch.testing.assert_close(model(images), SlowFINE(model)(images), rtol=1e-9, atol=1e-12)
