"""Promises of numbers: gradients are derivatives, threads and dull pictures change nothing of weight, NaN is caught at once."""

import dataclasses
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models import MODELS, make_model
from fine.models.backbones import BACKBONES, make_backbone
from fine.models.context import ContextNorm
from fine.models.encoders import ENCODERS, make_encoder
from fine.models.fine import WeightedDistance
from fine.models.hyper_net import HyperBackbone
from fine.models.memory import ANALOGIES, QUERIES, SYMMETRIES, FunctionalMemory
from fine.models.symmetry import P4, P4M, GroupBatchNorm, GroupBias, GroupConv
from fine.models.transformer import Attention
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import Trainer


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def check_gradients(module: nn.Module, *inputs: Tensor) -> None:
    """The gradients of all inputs and all weights agree with finite differences, in double precision."""
    module = module.double()
    for parameter in module.parameters():  # away from 0 and 1, which hide mistakes
        parameter.data += 0.1 * torch.randn_like(parameter)
    names = [name for name, _ in module.named_parameters()]
    values = [*inputs, *(parameter.detach() for parameter in module.parameters())]

    def function(*values: Tensor) -> Tensor:
        weights = dict(zip(names, values[len(inputs) :], strict=True))
        return torch.func.functional_call(module, weights, values[: len(inputs)])

    assert torch.autograd.gradcheck(function, [value.double().requires_grad_() for value in values], fast_mode=len(names) > 4)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize(("analogy", "method"), [*(("similarity", query) for query in QUERIES), ("fit", "solve")])
@pytest.mark.parametrize("slots", [0, 2])
@pytest.mark.parametrize("columns", [1, 3])
def test_gradients_of_a_memory(symmetry, analogy, method, slots, columns):
    moves = P4.pixel_moves(2)  # four rows are the pixels of a 2×2 picture
    memory = FunctionalMemory(4, 4, slots=slots, ridge=0.1, analogy=analogy, method=method, moves=moves, symmetry=symmetry)
    check_gradients(memory, torch.randn(2, 4, columns), torch.randn(2, 4, columns))


class Answer(nn.Module):
    """A backbone from an example pair and a new code to the answer."""

    def __init__(self, backbone: nn.Module):
        super().__init__()
        self.backbone = backbone

    def forward(self, x: Tensor, y: Tensor, new: Tensor) -> Tensor:
        return self.backbone.run(self.backbone.compose(x, y), new)


@pytest.mark.parametrize("name", BACKBONES)
@pytest.mark.parametrize("analogy", ANALOGIES)
def test_gradients_of_a_backbone(name, analogy):
    def memory(rows_in: int, rows_out: int) -> nn.Module:
        return FunctionalMemory(rows_in, rows_out, slots=2, ridge=0.1, analogy=analogy)

    backbone = make_backbone(name, rows=4, layers=3, make_memory=memory)
    check_gradients(Answer(backbone), *(torch.randn(2, 4, 2) for _ in range(3)))


def test_gradients_of_the_backbone_of_a_hyper_net():
    backbone = HyperBackbone(rows=4, columns=2, layers=3, slots=2)
    check_gradients(Answer(backbone), *(torch.randn(2, 4, 2) for _ in range(3)))


@pytest.mark.parametrize("group", [P4, P4M])
@pytest.mark.parametrize("options", [{"lifting": True}, {}, {"pooling": True}], ids=["lifting", "inner", "pooling"])
def test_gradients_of_a_group_convolution(group, options):
    convolution = GroupConv(group, channels_in=1, channels_out=2, kernel=4, stride=2, padding=1, **options)
    check_gradients(convolution, torch.randn(2, 1 if options.get("lifting") else group.order, 4, 4))


@pytest.mark.parametrize("group", [P4, P4M])
@pytest.mark.parametrize("layer", [GroupBatchNorm, GroupBias])
@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_what_follows_a_group_convolution(group, layer, training):
    check_gradients(layer(group, 2).train(training), torch.randn(3, 2 * group.order, 2, 2))


def test_gradients_of_distance_normalisation_and_attention():
    check_gradients(WeightedDistance(rows=3, columns=2), torch.randn(4, 3, 2), torch.randn(4, 3, 2))
    check_gradients(ContextNorm(5), torch.randn(2, 7, 5))
    check_gradients(Attention(8, 2), torch.randn(2, 7, 8))


SMALL = {
    **{"fine": {}, "fine-nice": {"code": 16, "slots": 2, "layers": 2}, "fine-mlp": {"code": 16, "slots": 2}},
    **{"esbn": {"key": 3, "hidden": 4}, "transformer": {"heads": 2, "feed_forward": 4, "hidden": 4}},
    **{"hyper-net": {"layers": 2, "slots": 2}, "predi-net": {"heads": 2, "key": 3, "relations": 2, "hidden": 4}},
    **{"relation-net": {"hidden": 4, "relation": 3}, "blind": {"hidden": 4}, "object-only": {"hidden": 4}},
}


def small(name: str, **settings: object) -> nn.Module:
    """A model with all its parts, each as small as it can be."""
    usual = {"encoder": "p4-cnn", "code": 16} if name != "fine" else {"code": 32, "columns": 2, "slots": 2}
    return make_model(name, channels=1, size=32, settings={**usual, **SMALL[name], **settings})


@pytest.mark.parametrize("name", SMALL)
def test_gradients_of_a_whole_model(name):
    """Along one random direction of all weights together: what a step of training follows."""
    model = small(name).double().eval()
    for parameter in model.parameters():
        parameter.data += 0.05 * torch.randn_like(parameter)
    pictures = torch.rand(2, 7, 1, 32, 32).double()
    directions = [torch.randn_like(parameter) for parameter in model.parameters()]
    gradients = torch.autograd.grad(model(pictures).logsumexp(1).sum(), list(model.parameters()))
    along = sum((gradient * direction).sum() for gradient, direction in zip(gradients, directions, strict=True))

    def moved(step: float) -> Tensor:
        for parameter, direction in zip(model.parameters(), directions, strict=True):
            parameter.data += step * direction
        result = model(pictures).logsumexp(1).sum().detach()
        for parameter, direction in zip(model.parameters(), directions, strict=True):
            parameter.data -= step * direction
        return result

    step = 1e-7
    measured = (moved(step) - moved(-step)) / (2 * step)
    torch.testing.assert_close(along.detach(), measured, rtol=1e-4, atol=1e-5)


BUILT_IN = set(MODELS)  # before any test has added its own


def test_every_model_is_checked():
    assert set(SMALL) == BUILT_IN


DULL = {
    "black": torch.zeros(7, 1, 32, 32),
    "white": torch.ones(7, 1, 32, 32),
    "grey": torch.full((7, 1, 32, 32), 0.3),
    "equal columns": torch.rand(7, 1, 32, 1).expand(-1, -1, -1, 32).contiguous(),
    "one picture seven times": torch.rand(1, 1, 32, 32).expand(7, -1, -1, -1).contiguous(),
    "a single bright point": torch.nn.functional.one_hot(torch.arange(7), 1024).view(7, 1, 32, 32).float(),
}


def finite_answer_and_gradients(model: nn.Module, pictures: Tensor) -> None:
    logits = model(pictures)
    logits.logsumexp(1).sum().backward()
    assert torch.isfinite(logits).all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("pictures", DULL.values(), ids=DULL.keys())
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", SMALL)
def test_dull_pictures_give_finite_answers_and_gradients(name, pictures, training):
    finite_answer_and_gradients(small(name).train(training), torch.stack([pictures, pictures.flip(0)]))


@pytest.mark.parametrize("pictures", DULL.values(), ids=DULL.keys())
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
)
def test_dull_pictures_with_every_encoder_and_memory(encoder, pictures, settings):
    symmetry = {"p4m-cnn": "together", "p4-cnn": "apart"}.get(encoder, "none")
    model = small("fine", encoder=encoder, **{"symmetry": symmetry, **settings})
    codes = model.encode(torch.stack([pictures, pictures.flip(0)]))
    assert torch.isfinite(codes).all()
    assert all(torch.isfinite(weight).all() for weight in model.compose(codes[:, 0], codes[:, 1]))
    finite_answer_and_gradients(model, torch.stack([pictures, pictures.flip(0)]))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("columns", [1, 2])
def test_an_encoder_of_nothing_in_particular(encoder, columns):
    code = make_encoder(encoder, channels=1, size=32, code=32, columns=columns)(DULL["black"])
    assert code.shape == (7, 32 // columns, columns) and torch.isfinite(code).all()


@pytest.fixture
def threads():
    """Sets the number of threads, and sets it back."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def with_threads(threads, count: int, model: nn.Module, pictures: Tensor) -> tuple[Tensor, Tensor]:
    """The answer of a model and the gradients of all its weights, in one row."""
    threads(count)
    model.zero_grad()
    logits = model(pictures)
    logits.logsumexp(1).sum().backward()
    return logits.detach(), torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


@pytest.mark.parametrize("name", SMALL)
def test_one_thread_and_two_agree(name, threads):
    """Sums are taken in another order, so the last bits may differ, and batch normalisation of codes that are alike makes that
    larger. Gradients agree to one part in 10⁹ in double precision, and to one in 10² in single; answers to one in 10⁴."""
    model, pictures = make_model(name, channels=1, size=32), torch.rand(8, 7, 1, 32, 32)
    for precision, answers, gradients in ((torch.float32, 1e-4, 1e-2), (torch.float64, 1e-11, 1e-9)):
        (one, one_gradient), (two, two_gradient) = (
            with_threads(threads, count, model.to(precision), pictures.to(precision)) for count in (1, 2)
        )
        assert (one - two).norm() <= answers * one.norm(), precision
        assert (one_gradient - two_gradient).norm() <= gradients * one_gradient.norm(), precision


TINY = RunConfig(
    task=replace(Task.preset("glyphs", rules="translation"), train_count=8, test_count=2),
    training=Training(epochs=2, batch=4),
    settings={"slots": 2},
)


@pytest.fixture
def trainer(tmp_path) -> Trainer:
    run = Run(tmp_path / "run")
    run.save_config(TINY)
    return Trainer(run, run.config(), torch.device("cpu"))


class Silence:
    def step(self, **_: float) -> None:
        pass

    def epoch(self, **_: float) -> None:
        pass


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_weight_that_is_not_finite_is_named_at_the_step_it_appears(trainer, bad):
    with torch.no_grad():
        trainer.model.backbone.memories[0].keys[0, 0, 0] = bad
    with pytest.raises(FineError, match=r"^backbone\.memories\.0\.keys and \d+ more are not finite at step 1, epoch 1: train"):
        trainer.fit(Silence())
    assert not trainer.run.state.exists()


def test_a_gradient_that_is_not_finite_is_named_alone(trainer):
    spoilt = trainer.model.distance.raw
    spoilt.register_hook(lambda gradient: torch.full_like(gradient, float("inf")))
    with pytest.raises(FineError, match=r"^the gradient of distance\.raw and 1 more are not finite at step 1"):  # and the norm
        trainer.fit(Silence())
    assert torch.isfinite(spoilt).all()


def test_a_gradient_that_is_too_long_to_measure_is_named_as_such(trainer):
    trainer.model.distance.raw.register_hook(lambda gradient: torch.full_like(gradient, 1e30))
    with pytest.raises(FineError, match=r"^the norm of the gradient is not finite at step 1"):
        trainer.fit(Silence())


def test_a_loss_that_is_not_finite_is_named_though_no_gradient_is(trainer, monkeypatch):
    learn = trainer.model.learn

    def infinite(pictures: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        logits, loss = learn(pictures, answers)
        return logits, loss + float("inf")

    monkeypatch.setattr(trainer.model, "learn", infinite)
    with pytest.raises(FineError, match=r"^the loss is not finite at step 1"):
        trainer.fit(Silence())


def test_what_the_last_step_of_an_epoch_spoils_is_not_kept(trainer):
    class Spoil(Silence):
        def epoch(self, *, epoch: int, **_: float) -> None:
            state[:] = [trainer.run.state.read_bytes()]
            step = trainer.optimiser.step

            def last(*arguments: object) -> None:
                step(*arguments)
                steps.append(1)
                if len(steps) == 2:  # an epoch has 8 / 4 steps
                    with torch.no_grad():
                        trainer.model.distance.raw.fill_(float("nan"))

            trainer.optimiser.step = last

    state: list[bytes] = []
    steps: list[int] = []
    with pytest.raises(FineError, match=r"^distance\.raw is not finite at step 4, epoch 2: the state after epoch 1 is kept in"):
        trainer.fit(Spoil())
    assert trainer.run.state.read_bytes() == state[0]


def test_settings_of_small_models_are_settings():
    for name, settings in SMALL.items():
        assert settings.keys() <= {field.name for field in dataclasses.fields(MODELS[name].config)}
