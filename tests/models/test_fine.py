"""The default model: equivariance, training in all directions, standardisation, settings."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fine.errors import FineError
from fine.geometry.d4 import C4, D4
from fine.models import make_model
from fine.models.fine import FINE, STANDARDS, FINEConfig, standardise


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def make(**settings: object) -> FINE:
    return FINE(FINEConfig(**settings), channels=1, size=32).eval()


def random_images(*shape: int) -> Tensor:
    return torch.rand(*shape, 1, 32, 32, dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("analogy", ["similarity", "least-squares"])
@pytest.mark.parametrize("encoder", ["p4-cnn", "p4m-cnn"])
@pytest.mark.parametrize("symmetry", ["conjugate", "two-sided"])
def test_the_function_of_a_moved_example_is_the_moved_function(analogy, encoder, symmetry):
    backbone = "linear" if symmetry == "two-sided" else "residual"
    settings = {"analogy": analogy, "encoder": encoder, "symmetry": symmetry, "slots": 2}
    model = make(**settings, backbone=backbone).double()
    for weight in model.backbone.parameters():
        torch.nn.init.normal_(weight)
    group = C4 if encoder == "p4-cnn" else D4
    x, y, new = random_images(3, 1, 1)

    def answer(*images: Tensor) -> Tensor:
        x, y, new = model.encode(torch.cat(images, dim=1)).unbind(1)
        return model.apply_function(model.compose(x, y), new)

    plain = answer(x, y, new)
    for g in range(group.order):
        moved_plain = plain[:, model.encoder.row_permutations[g]]
        # With a two-sided orbit, x may be moved by another element than y.
        for h in range(group.order) if symmetry == "two-sided" else [g]:
            moved = answer(group.move(h, x), group.move(g, y), group.move(h, new))
            torch.testing.assert_close(moved, moved_plain, rtol=1e-6, atol=1e-6)


def test_a_function_composed_once_can_be_applied_to_many():
    model = make()
    embeddings = model.encode(torch.rand(1, 5, 1, 32, 32))
    weights = model.compose(embeddings[:, 0], embeddings[:, 1])
    repeated = [weight.expand(3, -1, -1) for weight in weights]
    at_once = model.apply_function(repeated, embeddings[0, 2:])
    for number in range(3):
        alone = model.apply_function(weights, embeddings[:, 2 + number])
        torch.testing.assert_close(at_once[number], alone[0])


# Directions.


def test_further_directions_are_puzzles_with_another_example_and_another_question():
    model = make().double()
    images, answers = random_images(3, 7), torch.tensor([2, 0, 3])
    logits, loss = model.learn(images, answers)
    torch.testing.assert_close(logits, model(images))
    for puzzle, answer, own_logits, own_loss in zip(images, answers, logits, loss, strict=True):
        x, y, new, result = puzzle[0], puzzle[1], puzzle[2], puzzle[3 + answer]
        expected = F.cross_entropy(own_logits, answer)
        directions = ((new, result, x, 1), (y, x, result, 2), (result, new, y, 0))
        for example, its_result, question, right in directions:
            asked = torch.cat((torch.stack((example, its_result, question)), puzzle))
            further = F.cross_entropy(model(asked[None])[0], torch.tensor(right))
            expected = expected + further / 3
        torch.testing.assert_close(own_loss, expected)


def test_without_further_directions_the_loss_is_the_cross_entropy_of_the_answer():
    model = make(auxiliary_queries=0)
    images, answers = torch.rand(3, 7, 1, 32, 32), torch.tensor([2, 0, 3])
    logits, loss = model.learn(images, answers)
    torch.testing.assert_close(loss, F.cross_entropy(logits, answers, reduction="none"))


def test_one_further_direction_is_the_first_of_three():
    one, three = make(auxiliary_queries=1).double(), make(auxiliary_queries=3).double()
    three.load_state_dict(one.state_dict())
    embeddings = one.encode(random_images(3, 7))
    answers = torch.tensor([2, 0, 3])
    x, new = embeddings[:, 0], embeddings[:, 2]
    result = embeddings[torch.arange(3), 3 + answers]
    guess = one.apply_function(one.compose(new, result), x)
    logits = -one.distance(embeddings, guess[:, None])
    expected = F.cross_entropy(logits, torch.full((3,), 1), reduction="none")
    torch.testing.assert_close(one.auxiliary_loss(embeddings, answers), expected)
    assert not torch.allclose(three.auxiliary_loss(embeddings, answers), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"backbone": "residual"},
        {"backbone": "nice", "symmetry": "none"},
        {"backbone": "mlp", "symmetry": "none"},
    ],
)
def test_a_choice_can_be_scored_by_all_directions_of_the_puzzle_it_completes(settings):
    model = make(score_all_directions=True, **settings).double()
    images = random_images(2, 9)  # six choices each

    def distance(example: Tensor, its_result: Tensor, question: Tensor, result: Tensor) -> Tensor:
        guess = model.apply_function(model.compose(example, its_result), question)
        return model.distance(guess, result).log()

    for logits, puzzle in zip(model(images), model.encode(images), strict=True):
        x, y, new = puzzle[:3, None]
        for logit, choice in zip(logits, puzzle[3:, None], strict=True):
            further = distance(y, x, choice, new)
            further = further + distance(new, choice, x, y) + distance(choice, new, y, x)
            expected = -distance(x, y, new, choice) - further / 2
            torch.testing.assert_close(logit[None], expected)


def test_scoring_in_all_directions_changes_nothing_of_learning():
    images, answers = torch.rand(3, 7, 1, 32, 32), torch.tensor([2, 0, 3])
    plain, all_directions = (make(score_all_directions=choice) for choice in (False, True))
    all_directions.load_state_dict(plain.state_dict())
    learned = [model.learn(images, answers) for model in (all_directions, plain)]
    torch.testing.assert_close(*learned, rtol=0, atol=0)


def test_scores_of_empty_images_are_finite():
    # Nothing but zeros: all distances are 0, which have no logarithm.
    assert torch.isfinite(make(score_all_directions=True)(torch.zeros(1, 7, 1, 32, 32))).all()


# Standardisation.


def test_what_is_standardised_looks_the_same_in_any_light():
    images = torch.rand(2, 7, 1, 32, 32)
    pair_dimmed, one_dimmed = images.clone(), images.clone()
    pair_dimmed[:, :2] = 0.1 + 0.5 * images[:, :2]
    one_dimmed[:, 1] = 0.1 + 0.5 * images[:, 1]
    notices = {}
    for standard in STANDARDS:
        torch.manual_seed(0)
        model = make(standardise=standard)
        logits = model(images)
        dimmed = [model(changed) for changed in (pair_dimmed, one_dimmed)]
        notices[standard] = [not torch.allclose(one, logits, rtol=0.05) for one in dimmed]
    assert notices == {"none": [True, True], "image": [False, False], "pair": [False, True]}


def test_an_image_of_one_colour_becomes_zero():
    images = torch.full((2, 7, 3, 8, 8), 0.7)
    for by in ("image", "pair"):
        torch.testing.assert_close(standardise(images, by), torch.zeros_like(images))


def test_pairs_are_told_by_their_first_images():
    images = torch.rand(2, 4, 1, 8, 8)
    first, second = images[:, :2], images[:, 2:]
    both = standardise(images, "pair", firsts=[0, 0, 2, 2])
    torch.testing.assert_close(both[:, :2], standardise(first, "pair", firsts=[0, 0]))
    torch.testing.assert_close(both[:, 2:], standardise(second, "pair", firsts=[0, 0]))


# Training mode and settings.


def test_a_frozen_encoder_keeps_its_running_statistics():
    model = make().train()
    assert model.encoder.training
    for parameter in model.encoder.parameters():
        parameter.requires_grad_(False)
    model.train()
    assert model.training and not model.encoder.training
    before = {name: buffer.clone() for name, buffer in model.encoder.named_buffers()}
    model(torch.rand(2, 7, 1, 32, 32))
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.encoder.named_buffers())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slot": 3}, "did you mean 'slots'"),
        ({"slots": "many"}, "slots=many is not a whole number"),
        ({"encoder": "p4cnn"}, "did you mean 'p4-cnn'"),
        ({"backbone": "nicee"}, "did you mean 'nice'"),
        ({"columns": 7}, "columns must divide"),
        ({"embedding_size": 160, "columns": 8}, "square of places"),
        ({"columns": 128, "encoder": "p4-cnn"}, "must be a multiple of"),
        ({"slots": -1}, "cannot have -1 slots"),
        ({"ridge": -1.0}, "ridge is -1.0"),
        ({"ridge": float("nan")}, "ridge=nan is not finite"),
        ({"ridge": 1e300}, r"ridge is 1e\+300: give a number from 0 to 1,000,000"),
        ({"query": "guess"}, "unknown pseudo-inverse"),
        ({"analogy": "guess"}, "unknown analogy"),
        ({"ridge": 0.0}, "ridge above 0"),
        ({"backbone": "nice"}, "symmetry=none"),
        ({"symmetry": "both"}, "unknown symmetry"),
        ({"symmetry": "two-sided", "backbone": "residual"}, "backbone=linear"),
        ({"layers": 0, "backbone": "residual"}, "give 1 to 1000"),
        ({"keys": "lost"}, "unknown kind of keys"),
        ({"auxiliary_queries": 2}, "give 0, 1 or 3"),
        ({"standardise": "pairs"}, "did you mean 'pair'"),
    ],
)
def test_impossible_settings_are_refused_in_one_line(settings, message):
    with pytest.raises(FineError, match=message) as refusal:
        make_model("fine", channels=1, size=32, settings=settings)
    assert "\n" not in str(refusal.value)
