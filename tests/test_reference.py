"""The model and a plain transcription of the paper give the same numbers, forward and backward."""

import sys
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.models import make_model
from fine.tasks import Task
from fine.training import learn

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from reference import PlainFINE


@pytest.fixture(scope="module")
def batch():
    return Task.preset("glyphs", rules="affine").test_puzzles()[:5].render(range(5))


@pytest.mark.parametrize(
    ("name", "settings"),
    [("fine", {}), ("fine", {"symmetry": "none", "standardise": "pair"}), ("fine-nice", {}), ("fine-mlp", {})],
)
def test_a_plain_transcription_gives_the_same_numbers(name, settings, batch):
    torch.manual_seed(0)
    batch = batch._replace(pictures=batch.pictures.double())
    model = make_model(name, channels=1, size=32, settings=settings).double()
    with torch.no_grad():
        model(batch.pictures)  # so that running statistics are not those of an untouched model
    model.eval()  # each call of the plain encoder would normalise over its own pictures
    plain = PlainFINE(model)
    gradients = []
    for way in (model, plain):
        logits, losses = learn(way, batch)
        model.zero_grad()
        losses.sum().backward()
        gradients.append((logits, losses, *(weight.grad for weight in model.parameters())))
    for fast, slow in zip(*gradients, strict=True):
        assert (fast - slow).norm() <= 1e-6 * slow.norm()
    torch.testing.assert_close(model(batch.pictures), plain(batch.pictures), rtol=1e-6, atol=1e-9)


def test_what_is_not_transcribed_is_refused():
    with pytest.raises(FineError, match="is written for"):
        PlainFINE(make_model("fine", channels=1, size=32, settings={"encoder": "mlp"}))
