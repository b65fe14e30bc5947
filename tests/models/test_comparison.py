"""The comparison models against slow versions of every pair, head and step; sizes and starts."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models import make_model
from fine.models.comparison.sequence import ContextNorm
from fine.puzzles.task import Task
from fine.training import train
from fine.training.protocols import Training
from fine.training.run import Run, RunConfig
from support.slow_models import SLOW, slow_context_norm

SINCE_2021 = ["corel-net", "abstractor", "inlay", "dual-attention"]
SEQUENCE_MODELS = ["relation-net", "predi-net", "transformer", "esbn", *SINCE_2021]
COMPARISON_MODELS = [*SEQUENCE_MODELS, "hyper-net"]
every_model = pytest.mark.parametrize("name", COMPARISON_MODELS)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def size_of(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


class GivenEmbeddings(nn.Module):
    """In place of an encoder: its images are embeddings already."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flatten(1)[:, :, None]


def without_encoder(name: str) -> nn.Module:
    """A model of embeddings, in double precision; no weight is 0 or 1, which hide mistakes."""
    model = make_model(name, channels=1, size=32)
    model.encoder = GivenEmbeddings()
    for weight in model.parameters():
        if weight.ndim < 2:
            nn.init.normal_(weight, mean=0.3, std=0.3)
    return model.double()


@pytest.mark.slow
@every_model
def test_a_model_is_its_slow_version(name):
    model = without_encoder(name)
    embeddings = (0.5 * torch.randn(3, 7, 128).double()).requires_grad_()
    normalised = embeddings
    if name in SEQUENCE_MODELS:
        normalised = slow_context_norm(model.normalise, embeddings)
    slow = torch.stack([SLOW[name](model, puzzle) for puzzle in normalised])
    fast = model(embeddings)
    # The positions of a Transformer are made in single precision.
    exact = {"rtol": 1e-9, "atol": 1e-11}
    close = {"rtol": 1e-5, "atol": 1e-6} if name in ("transformer", "inlay") else exact
    torch.testing.assert_close(fast, slow, **close)
    weights = {"embeddings": embeddings, **dict(model.named_parameters())}
    losses = [F.cross_entropy(logits, torch.tensor([0, 1, 3])) for logits in (fast, slow)]
    gradients = [
        dict(zip(weights, torch.autograd.grad(loss, list(weights.values())), strict=True))
        for loss in losses
    ]
    torch.testing.assert_close(*gradients, **close)
    for weight, gradient in gradients[0].items():
        assert gradient.abs().max() > 0, weight


def test_a_scaled_esbn_is_one_whose_embeddings_are_shorter():
    """Similarities divided by √128 are those of embeddings divided by its root."""
    plain = make_model("esbn", channels=1, size=32).double()
    scaled = make_model("esbn", channels=1, size=32, settings={"scaled": True}).double()
    scaled.load_state_dict(plain.state_dict())
    embeddings = torch.randn(5, 7, 128).double()
    torch.testing.assert_close(scaled.answer(embeddings), plain.answer(embeddings / 128**0.25))
    assert not torch.allclose(scaled.answer(embeddings), plain.answer(embeddings))


def test_context_normalisation_removes_scale_and_shift_of_a_puzzle():
    norm, embeddings = ContextNorm(16).double(), torch.randn(5, 7, 16).double()
    normalised = norm(embeddings)
    torch.testing.assert_close(normalised.mean(1), torch.zeros(5, 16).double())
    torch.testing.assert_close(normalised.var(1), torch.ones(5, 16).double())
    torch.testing.assert_close(norm(3 * embeddings + torch.randn(5, 1, 16)), normalised)
    torch.testing.assert_close(norm(embeddings[:1]), normalised[:1])  # no puzzle sees another
    assert torch.isfinite(norm(torch.ones(2, 7, 16).double())).all()


def test_hyper_net_hands_its_state_on_from_layer_to_layer():
    backbone = make_model("hyper-net", channels=1, size=32).double().backbone
    x, y = torch.randn(2, 3, 128, 1).double()
    fourth = backbone.compose(x, y)[3]
    with torch.no_grad():
        backbone.pseudo_outputs[0].bias.add_(1)  # what the cell sees at the first layer
    assert not torch.allclose(backbone.compose(x, y)[3], fourth)
    assert backbone.memory(0) is backbone.memory(1) is not backbone.memory(2)


# Sizes and starting weights.


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("esbn", 1_910_759),
        ("transformer", 430_436),
        ("predi-net", 1_131_308),
        ("relation-net", 528_612),
    ],
)
def test_a_model_with_the_conv_encoder_has_its_published_size(name, parameters):
    model = make_model(name, channels=1, size=32, settings={"encoder": "conv"})
    assert size_of(model) == parameters


def test_hyper_net_is_fine_nice_without_values_and_with_an_lstm():
    fine_nice = size_of(make_model("fine-nice", channels=1, size=32))
    values = 2 * 48 * 64 * 64
    # Four gates of 48 on [x_t, y_t] and the last output, two biases each.
    lstm = 4 * 48 * (128 + 48) + 2 * 4 * 48
    assert size_of(make_model("hyper-net", channels=1, size=32)) == fine_nice - values + lstm


def kaiming(inputs: int, outputs: int) -> float:
    return math.sqrt(2 / inputs)


def xavier(inputs: int, outputs: int) -> float:
    return math.sqrt(2 / (inputs + outputs))


@pytest.mark.parametrize(
    ("name", "layer", "spread"),
    [
        ("relation-net", "pair", kaiming),
        ("relation-net", "relation.1", kaiming),
        ("relation-net", "head.0", kaiming),
        ("relation-net", "head.2", xavier),
        ("predi-net", "key", xavier),
        ("predi-net", "queries.0", xavier),
        ("predi-net", "queries.1", xavier),
        ("predi-net", "relation", xavier),
        ("predi-net", "head.0", kaiming),
        ("predi-net", "head.2", xavier),
        ("transformer", "attention.combine", xavier),
        ("transformer", "feed_forward.0", kaiming),
        ("transformer", "feed_forward.2", kaiming),
        ("transformer", "head.0", kaiming),
        ("transformer", "head.2", xavier),
        ("esbn", "key.0", kaiming),
        ("esbn", "gate.0", xavier),
        ("esbn", "head", xavier),
        ("esbn", "encoder.layers.2", kaiming),
        ("esbn", "encoder.layers.7", kaiming),
        ("esbn", "encoder.layers.9", kaiming),
    ],
)
def test_a_layer_starts_as_published(name, layer, spread):
    model = make_model(name, channels=1, size=32, settings={"encoder": "conv"})
    module = model.get_submodule(layer)
    inputs, outputs = module.weight[0].numel(), module.weight.shape[0]
    # The standard deviation of n normal numbers is off by 1/√(2n) of itself; five times that is
    # never seen.
    tolerance = 5 / math.sqrt(2 * module.weight.numel())
    assert module.weight.std().item() == pytest.approx(spread(inputs, outputs), rel=tolerance)
    assert module.bias is None or not module.bias.any()


def test_projections_of_a_transformer_start_as_one_matrix():
    projections = make_model("transformer", channels=1, size=32).attention.project
    for block in projections.weight.chunk(3):
        assert block.std().item() == pytest.approx(xavier(128, 3 * 128), rel=0.03)
    assert not projections.bias.any()


def test_gates_of_an_esbn_start_as_published():
    controller = make_model("esbn", channels=1, size=32).controller
    for weight in (controller.weight_ih, controller.weight_hh):
        into, forget, cell, out = weight.chunk(4)
        size, inputs = into.shape
        for block in (into, forget):  # the two are started as one matrix
            assert block.std().item() == pytest.approx(xavier(inputs, 2 * size), rel=0.02)
        assert cell.std().item() == pytest.approx(5 / 3 * xavier(inputs, size), rel=0.02)
        assert out.std().item() == pytest.approx(xavier(inputs, size), rel=0.02)
    assert not controller.bias_ih.any() and not controller.bias_hh.any()


@pytest.mark.parametrize("name", SINCE_2021)
def test_a_model_since_2021_is_as_large_as_the_others(name):
    """Between the smallest and the largest of the models that the paper compares with."""
    sizes = [size_of(make_model(other, channels=1, size=32)) for other in ("transformer", "esbn")]
    assert sizes[0] <= size_of(make_model(name, channels=1, size=32)) <= sizes[1]


# What all of them do.


@every_model
def test_a_puzzle_alone_gets_the_answer_it_gets_among_others(name):
    model = make_model(name, channels=1, size=32).eval()
    images = torch.rand(5, 7, 1, 32, 32)
    among_others = model(images)
    alone = torch.cat([model(one[None]) for one in images])
    torch.testing.assert_close(alone, among_others, rtol=1e-4, atol=1e-5)
    assert torch.equal(model(images), among_others)


@every_model
def test_training_mode_changes_nothing_but_the_encoder(name):
    # The conv encoder has no batch normalisation.
    model = make_model(name, channels=1, size=32, settings={"encoder": "conv"})
    images = torch.rand(3, 7, 1, 32, 32)
    trained = model.train()(images)
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(images), trained)


@every_model
@pytest.mark.parametrize("encoder", ["p4-cnn", "p4m-cnn", "resnet", "mlp", "conv"])
def test_every_model_takes_every_encoder(name, encoder):
    model = make_model(name, channels=3, size=28, settings={"encoder": encoder})
    for b in (1, 2):
        assert model(torch.rand(b, 7, 3, 28, 28)).shape == (b, 4)


@every_model
def test_the_order_of_choices_matters_to_sequence_models_and_not_to_hyper_net(name):
    images, order = torch.rand(2, 7, 1, 32, 32), torch.tensor([2, 0, 3, 1])
    shuffled = torch.cat((images[:, :3], images[:, 3:][:, order]), dim=1)
    model = make_model(name, channels=1, size=32).eval()
    same = torch.allclose(model(shuffled), model(images)[:, order], rtol=1e-4, atol=1e-5)
    assert same is (name == "hyper-net")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("transformer", {"heads": 7}, "does not fit 7 heads"),
        ("transformer", {"heads": 0}, "heads is 0: give at least 1"),
        ("abstractor", {"heads": 7}, "does not fit 7 heads"),
        ("abstractor", {"activation": "relu"}, "unknown activation"),
        ("inlay", {"graphs": 3}, "does not fit 3 heads"),
        ("dual-attention", {"heads": 1}, "one sensory and one relational"),
        ("esbn", {"key": -1}, "key is -1: give at least 1"),
        ("hyper-net", {"slots": 0}, "4 layers and 0 slots: give 1 or more of each"),
        ("esbn", {"encoder": "cnn"}, "choose one of"),
        ("relation-net", {"slots": 8}, "unknown setting"),
    ],
)
def test_impossible_settings_are_refused_in_one_line(name, settings, message):
    with pytest.raises(FineError, match=message) as refusal:
        make_model(name, channels=1, size=32, settings=settings)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", SEQUENCE_MODELS)
def test_a_sequence_of_another_length_is_refused(name):
    with pytest.raises(FineError, match="5 images per puzzle: it reads sequences of 7"):
        make_model(name, channels=1, size=32)(torch.rand(2, 5, 1, 32, 32))


@every_model
def test_the_same_seed_trains_the_same_weights(name):
    ends = []
    for _ in range(2):
        torch.manual_seed(0)
        model = make_model(name, channels=1, size=32)
        optimiser = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimiser.zero_grad()
            logits = model(torch.rand(8, 7, 1, 32, 32))
            F.cross_entropy(logits, torch.randint(4, (8,))).backward()
            optimiser.step()
        ends.append([weight.detach().clone() for weight in model.parameters()])
    assert all(torch.equal(one, two) for one, two in zip(*ends, strict=True))


@pytest.mark.slow
@every_model
def test_a_trained_model_is_saved_and_gives_the_same_answers_again(name, tmp_path):
    task = Task(
        images="glyphs",
        rules="translation",
        train_classes=20,
        test_classes=20,
        train_count=32,
        test_count=12,
    )
    config = RunConfig(model=name, task=task, training=Training(epochs=1, batch=16))
    evaluation = train(config, tmp_path / "run")
    again = evaluate(Run(tmp_path / "run").load(), task.test_puzzles())
    assert (again.probabilities == evaluation.probabilities).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["abstractor", "inlay", "dual-attention", "vit"])
def test_a_model_since_2021_can_fit_a_few_puzzles(name):
    task = Task(images="glyphs", rules="translation", train_classes=20, train_count=16)
    images, answers = task.training_puzzles().render(range(16))
    model = make_model(name, channels=1, size=32)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(40):
        optimiser.zero_grad()
        F.cross_entropy(model(images), answers).backward()
        optimiser.step()
    assert (model(images).argmax(1) == answers).float().mean() > 0.8  # a guess has 0.25
