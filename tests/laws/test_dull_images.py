"""Images with nothing in them give finite answers and finite gradients, in every model."""

import pytest
import torch
from torch import Tensor, nn

from fine.models.encoders import ENCODERS, make_encoder
from support.small_models import SMALL, small_model

_SEED = torch.Generator().manual_seed(0)
DULL = {
    "black": torch.zeros(7, 1, 32, 32),
    "white": torch.ones(7, 1, 32, 32),
    "grey": torch.full((7, 1, 32, 32), 0.3),
    "equal columns": torch.rand(7, 1, 32, 1, generator=_SEED).expand(-1, -1, -1, 32).contiguous(),
    "one image seven times": torch.rand(1, 1, 32, 32, generator=_SEED).repeat(7, 1, 1, 1),
    "one bright pixel": torch.eye(7, 1024).view(7, 1, 32, 32),
}
every_dull_image = pytest.mark.parametrize("images", DULL.values(), ids=DULL)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def assert_finite(model: nn.Module, images: Tensor) -> None:
    """A batch of two puzzles has finite logits and gradients."""
    logits = model(torch.stack([images, images.flip(0)]))
    logits.logsumexp(1).sum().backward()
    assert torch.isfinite(logits).all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


@every_dull_image
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("name", SMALL)
def test_every_model(name, images, training):
    assert_finite(small_model(name).train(training), images)


@every_dull_image
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"analogy": "similarity", "symmetry": "none"},
        {"slots": 0},
        {"standardise": "none"},
        {"backbone": "residual", "keys": "shared", "symmetry": "none"},
    ],
    ids=str,
)
def test_every_encoder_and_memory(encoder, images, settings):
    symmetry = {"p4m-cnn": "conjugate", "p4-cnn": "two-sided"}.get(encoder, "none")
    model = small_model("fine", **{"encoder": encoder, "symmetry": symmetry, **settings})
    embeddings = model.encode(torch.stack([images, images.flip(0)]))
    assert torch.isfinite(embeddings).all()
    weights = model.compose(embeddings[:, 0], embeddings[:, 1])
    assert all(torch.isfinite(weight).all() for weight in weights)
    assert_finite(model, images)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("columns", [1, 2])
def test_every_encoder_alone(encoder, columns):
    shape = {"channels": 1, "size": 32, "embedding_size": 32, "columns": columns}
    embeddings = make_encoder(encoder, **shape)(DULL["black"])
    assert embeddings.shape == (7, 32 // columns, columns)
    assert torch.isfinite(embeddings).all()
