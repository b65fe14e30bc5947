"""Weights from a file: only numbers that a training can have ended in, and no larger than it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.io.tensors import save_tensors
from fine.models import make_model, weights
from fine.models.initialisation import filled_later
from fine.models.weights import load_trained, load_weights

SHAPE = {"channels": 1, "size": 32}
GROUPED = {"slots": 4, "groups": 2}
Weights = dict[str, Tensor]


def spoil(name: str, **change: float) -> Callable[[Weights], None]:
    """Set the first number of a tensor to another value, or multiply all of them."""

    def spoil_tensor(tensors: Weights) -> None:
        if "times" in change:
            tensors[name] *= change["times"]
        else:
            tensors[name].view(-1)[0] = change["first"]

    return spoil_tensor


def widen(tensors: Weights) -> None:
    """Numbers that double precision has and single precision has not."""
    tensors["distance.raw"] = tensors["distance.raw"].double() + 1e300


VALUES = "backbone.memories.0.values"
VARIANCE = "encoder.layers.4.norm.running_var"
RESIDUALS = "backbone.memories.0.residuals"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (spoil(VALUES, first=torch.nan), f"'{VALUES}' has numbers that are not finite"),
        (spoil(VALUES, first=torch.inf), "not finite, so the model could not answer: train it"),
        (spoil(VARIANCE, first=torch.nan), f"'{VARIANCE}' has numbers that are not finite"),
        (spoil(VARIANCE, first=-1e-3), f"'{VARIANCE}' has a negative variance"),
        (
            spoil(f"{RESIDUALS}.row_covariance", times=-1),
            "row_covariance' is not positive definite",
        ),
        (spoil(f"{RESIDUALS}.column_covariance", times=0), "is not positive definite"),
        (widen, "'distance.raw' has numbers that are not finite"),
    ],
)
def test_numbers_that_no_training_ends_in_are_refused(damage, message):
    model = make_model("fine-grouped", settings=GROUPED, **SHAPE)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors = {name: tensor.clone() for name, tensor in before.items()}
    load_weights(model, tensors, Path("model.safetensors"))
    damage(tensors)
    with pytest.raises(FineError, match=message) as refusal:
        load_weights(model, tensors, Path("model.safetensors"))
    assert str(refusal.value).startswith("model.safetensors: ")
    state = model.state_dict()
    assert all(torch.equal(state[name], tensor) for name, tensor in before.items())


@pytest.mark.parametrize("precision", [torch.float64, torch.float16, torch.bfloat16])
def test_weights_may_have_another_precision(precision):
    model = make_model("fine", **SHAPE)
    tensors = {
        name: tensor.to(precision) if tensor.is_floating_point() else tensor
        for name, tensor in model.state_dict().items()
    }
    load_weights(model, tensors, Path("model.safetensors"))
    assert torch.equal(model.distance.raw, tensors["distance.raw"].float())


@pytest.mark.parametrize(
    "precision", [torch.int64, torch.complex64, torch.float8_e5m2, torch.float4_e2m1fn_x2]
)
def test_weights_of_another_kind_are_refused(precision):
    """Some kinds of floats cannot even be read as others."""
    model = make_model("fine", **SHAPE)
    other = torch.zeros(16, 16, dtype=torch.uint8)
    kind = other.view(precision) if precision.itemsize == 1 else other.to(precision)
    tensors = {**model.state_dict(), "distance.raw": kind}
    with pytest.raises(FineError, match=rf"'distance.raw' holds {precision}, the model"):
        load_weights(model, tensors, Path("model.safetensors"))


# A model and its file


@pytest.mark.parametrize("name", ["fine", "fine-nice", "hyper-net", "esbn"])
def test_a_trained_model_comes_back(name, tmp_path):
    torch.manual_seed(0)
    model = make_model(name, **SHAPE)
    save_tensors(tmp_path / "weights", model.state_dict())
    loaded = load_trained(name, tmp_path / "weights", settings={}, **SHAPE)
    assert not loaded.training
    state = loaded.state_dict()
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())


def test_a_model_that_its_file_does_not_fit_is_not_even_made(tmp_path, monkeypatch):
    """Slots of a hundred megabytes would take seconds to start, and a file of 100 kB says no."""
    save_tensors(tmp_path / "weights", make_model("fine", **SHAPE).state_dict())
    monkeypatch.setattr(weights, "make_model", None)
    with pytest.raises(FineError, match=r"has shape \[8, 16, 16\], the model in config.json needs"):
        load_trained("fine", tmp_path / "weights", settings={"slots": 1000}, **SHAPE)


@pytest.mark.parametrize("name", ["fine", "fine-nice", "hyper-net"])
def test_slots_that_a_file_fills_cost_as_many_random_numbers(name):
    """So a training that loads a model on its way draws what it always drew."""
    following = []
    for _ in range(2):
        torch.manual_seed(0)
        if following:
            with filled_later():
                make_model(name, **SHAPE)
        else:
            make_model(name, **SHAPE)
        following.append(torch.rand(4))
    assert torch.equal(*following)
