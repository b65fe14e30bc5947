"""The comparison models against the code that Webb et al. (2021) published, by stored outputs.

With the same weights, the published models (github.com/taylorwwebb/emergent_symbols) gave the
logits in published_outputs.json. Weights and images are formulas, so that nothing else is stored.
"""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from fine.models import make_model

STORED = json.loads(Path(__file__).with_name("published_outputs.json").read_text())


def fill(model: nn.Module) -> None:
    """Weights of about the size that a layer starts with, the same wherever they are made."""
    for number, weight in enumerate(model.parameters()):
        wave = torch.sin(0.7 * torch.arange(weight.numel(), dtype=torch.float64) ** 1.1 + number)
        inputs = max(1, weight[0].numel()) if weight.dim() > 1 else 100
        weight.data = (2 / inputs) ** 0.5 * wave.view(weight.shape)


def images() -> Tensor:  # (2, 7, 1, 32, 32)
    numbers = torch.arange(2 * 7 * 32 * 32, dtype=torch.float64)
    return (0.5 + 0.5 * torch.sin(0.013 * numbers**1.2)).view(2, 7, 1, 32, 32)


@pytest.mark.parametrize("name", sorted(STORED["logits"]))
def test_logits_are_those_of_the_published_code(name):
    model = make_model(name, channels=1, size=32, settings={"encoder": "conv"}).double()
    fill(model)
    logits = model(images())
    assert torch.isfinite(logits).all() and logits.std() > 1e-3
    torch.testing.assert_close(
        logits, torch.tensor(STORED["logits"][name]).double(), rtol=1e-6, atol=1e-8
    )
