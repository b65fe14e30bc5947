"""FINE on two grids: each learns as if alone, and their odds multiply."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fine.continual.config import ContinualConfig
from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models import make_model, pyramid
from fine.models.fine import FINE, FINEConfig
from fine.models.pyramid import SHARPNESS, Pyramid, PyramidConfig
from fine.models.variant_solver import VariantSolver
from fine.pretrained import load
from fine.puzzles.task import Task
from fine.puzzles.variants import Variant
from fine.training import Run, RunConfig, Training, train

SMALL = {"columns": 2, "coarse_size": 32, "coarse_slots": 2, "fine_size": 128, "fine_slots": 2}
ANSWERS = torch.tensor([2, 0, 3])
FEW = replace(
    Task.preset("glyphs", rules="translation"),
    **{"train_classes": 20, "test_classes": 20, "train_count": 32, "test_count": 12},
)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture
def images() -> Tensor:
    return torch.rand(3, 7, 1, 32, 32)


def make(**settings: object) -> Pyramid:
    return Pyramid(PyramidConfig(**{**SMALL, **settings}), channels=1, size=32)


def test_one_grid_is_coarse_and_the_other_fine():
    model = make_model("fine-pyramid", channels=3, size=32)
    coarse = {"backbone": "residual", "keys": "shared"}
    assert model.coarse.config == FINEConfig(standardise="pair", **coarse)
    fine = {"embedding_size": 1024, "slots": 4, "encoder_depth": 1}
    assert model.fine.config == FINEConfig(standardise="pair", **fine)
    assert (model.coarse.encoder.rows, model.fine.encoder.rows) == (4 * 4, 8 * 8)


def test_any_number_of_choices_is_scored(images):
    model = make().eval()
    assert model(images).shape == (3, 4)
    torch.testing.assert_close(model(images[:, :5]), model(images)[:, :2])


@torch.no_grad()
def test_a_second_look_weighs_what_every_known_explanation_leaves_forwards_and_backwards(images):
    model = make(second_look="all").eval()
    model.after_training(FEW.training_puzzles())
    embeddings = [grid.encode(images) for grid in model.grids]

    def evidence(x, y, new, result):
        """Of one new pair, by the numbers of the images: a sum over explanations of the hint."""
        hint = [[grid[:, number] for grid in embeddings] for number in (x, y)]
        functions, residuals = model.known.explain(model.grids, *hint)
        missed = residuals.exp()  # (b, n): the product over both grids
        for grid, function, embedding in zip(model.grids, functions, embeddings, strict=True):
            guess = function @ embedding[:, new, None]
            missed = missed * grid.distance(guess, embedding[:, result, None])
        return missed.pow(-SHARPNESS).sum(1).log() / SHARPNESS

    expected = [evidence(0, 1, 2, choice) + evidence(1, 0, choice, 2) for choice in range(3, 7)]
    found = model(images)
    torch.testing.assert_close(found, torch.stack(expected, dim=1), rtol=1e-3, atol=1e-3)


@torch.no_grad()
def test_puzzles_are_looked_at_again_independently_of_each_other(images, monkeypatch):
    model = make(second_look="all").eval()
    together = model(images)
    monkeypatch.setattr(pyramid, "AT_ONCE", 1)
    torch.testing.assert_close(model(images), together, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_only_puzzles_with_unfamiliar_hints_get_a_second_look(images):
    choices = {name: make(second_look=name).eval() for name in ("none", "unfamiliar", "all")}
    model = choices["unfamiliar"]
    for other in choices.values():
        other.load_state_dict(model.state_dict())
    residuals = model._residual_of_hint(model.coarse.encode(images))
    model.most_residual.copy_(residuals.median())  # so that one of three is above it
    unfamiliar = residuals > residuals.median()
    assert unfamiliar.sum() == 1
    as_asked, again = choices["none"](images), choices["all"](images)
    expected = torch.where(unfamiliar[:, None], again, as_asked)
    torch.testing.assert_close(model(images), expected, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(as_asked, again)


@torch.no_grad()
def test_no_hint_is_familiar_before_training_has_ended(images):
    model = make().eval()
    torch.testing.assert_close(
        model(images), model.look_again([grid.encode(images) for grid in model.grids])
    )


def test_one_training_hint_in_ten_is_unfamiliar():
    model = make()
    puzzles = replace(FEW, train_count=50).training_puzzles()
    model.after_training(puzzles)
    assert model.training
    images = puzzles.renderer()(puzzles.specs).images
    with torch.no_grad():
        residuals = model.eval()._residual_of_hint(model.coarse.encode(images))
    assert (residuals > model.most_residual).sum() == 5


@torch.no_grad()
def test_the_residual_is_the_share_of_y_that_is_not_explained(images):
    model = make().eval()
    embeddings = model.coarse.encode(images)
    x, y = embeddings[:, 0], embeddings[:, 1]
    weight = F.softplus(model.coarse.distance.raw)
    missed = y - model.coarse.apply_function(model.coarse.compose(x, y), x)
    share = (weight * missed**2).sum((1, 2)) / (weight * y**2).sum((1, 2))
    torch.testing.assert_close(model._residual_of_hint(embeddings), share)


@torch.no_grad()
def test_as_asked_odds_are_inverse_to_the_distances_and_the_fine_grid_counts_twice(images):
    model = make(second_look="none").eval()
    product = model.coarse(images) * model.fine(images).square()  # of −distances
    odds = -1 / product
    torch.testing.assert_close(model(images).softmax(1), odds / odds.sum(1, keepdim=True))


@torch.no_grad()
def test_distances_of_another_scale_give_the_same_probabilities(images):
    """What one grid calls far may be near on the other: only ratios count."""
    model = make().eval()
    before = model(images).softmax(1)
    metric = model.fine.distance
    metric.raw.copy_(torch.log(torch.expm1(3 * F.softplus(metric.raw))))  # three times as far
    torch.testing.assert_close(model(images).softmax(1), before)


def test_the_loss_is_the_sum_and_the_logits_those_of_the_puzzle_as_asked(images):
    model = make()
    logits, loss = model.learn(images, ANSWERS)
    (coarse, coarse_loss), (fine, fine_loss) = (
        part.learn(images, ANSWERS) for part in (model.coarse, model.fine)
    )
    torch.testing.assert_close(loss, coarse_loss + fine_loss)
    torch.testing.assert_close(logits, -((-coarse).log() + 2 * (-fine).log()))


def test_each_grid_learns_as_if_alone(images):
    model = make()
    alone = [FINE(part.config, channels=1, size=32) for part in (model.coarse, model.fine)]
    for part, other in zip((model.coarse, model.fine), alone, strict=True):
        other.load_state_dict(part.state_dict())
        other.learn(images, ANSWERS)[1].mean().backward()
    model.learn(images, ANSWERS)[1].mean().backward()
    gradients = [weight.grad for weight in model.parameters()]
    expected = [weight.grad for part in alone for weight in part.parameters()]
    assert all(map(torch.equal, gradients, expected))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"backbone": "mlp"},
            "unknown backbone of a fine-pyramid 'mlp': choose one of linear, res",
        ),
        ({"second_look": "both"}, "unknown second_look 'both': choose one of none, unfamiliar"),
        ({"known_functions": 0}, "known_functions is 0: give a number from 1 to 256"),
        ({"standardise": "both"}, "unknown way to standardise 'both'"),
        ({"ridge": -1.0}, "ridge is -1.0"),
        ({"fine_size": 1000}, "an embedding of 1000 in 2 columns does not fit a p4m-CNN"),
        ({"coarse_slots": -1}, "a memory cannot have -1 slots"),
        ({"encoder_depth": -1}, "an encoder_depth of -1 does not fit"),
    ],
    ids=str,
)
def test_impossible_settings_are_refused_in_one_line(settings, message):
    with pytest.raises(FineError, match=message) as refusal:
        make(**settings)
    assert "\n" not in str(refusal.value)


def test_images_that_do_not_halve_to_its_grid_are_refused():
    with pytest.raises(FineError, match="28×28 cannot end on 8×8 places: choose one of 14×14, 7×7"):
        make_model("fine-pyramid", channels=1, size=28)
    model = make_model("fine-pyramid", channels=1, size=28, settings={"fine_size": 7 * 7 * 16})
    assert model(torch.rand(2, 7, 1, 28, 28)).shape == (2, 4)


def test_variants_that_need_a_function_are_refused():
    with pytest.raises(FineError, match="Pyramid composes no function, so it cannot be asked"):
        VariantSolver(make(), Variant("chain", hints=2))


@pytest.mark.slow
def test_a_trained_one_is_saved_and_gives_the_same_answers_again(tmp_path):
    training = Training(epochs=1, batch=16)
    config = RunConfig(model="fine-pyramid", settings=SMALL, task=FEW, training=training)
    evaluation = train(config, tmp_path / "run")
    again = evaluate(Run(tmp_path / "run").load(), FEW.test_puzzles())
    assert (again.probabilities == evaluation.probabilities).all()
    with pytest.raises(FineError, match="holds a Pyramid: expected a run of fine, fine-nice"):
        load(tmp_path / "run")


@pytest.mark.slow
def test_continual_learning_is_refused(tmp_path):
    task = replace(FEW, rules="translation+swap")
    config = ContinualConfig(model="fine-pyramid", settings=SMALL, task=task, strategy="grow")
    with pytest.raises(FineError, match="fine-pyramid has no slots to add: only a `fine` can"):
        train(config, tmp_path / "run")


@pytest.mark.slow
def test_a_rule_is_learned(tmp_path):
    task = replace(FEW, train_classes=50, train_count=320, test_count=100)
    training = Training(epochs=2, batch=16)
    evaluation = train(RunConfig(model="fine-pyramid", task=task, training=training), tmp_path)
    assert evaluation.interval[0] > 0.6  # reaches 91 %; the right object alone has 50 %
