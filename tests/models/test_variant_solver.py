"""Variants are solved with functions: by the oracle nearly always, and in any order of choices."""

from dataclasses import replace

import pytest
import torch

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models import make_model
from fine.models.fine import FINE, FINEConfig
from fine.models.oracle import LeastSquaresPixels, Oracle
from fine.models.variant_solver import MostSimilar, VariantSolver
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN, Variant

VARIANTS = [Variant("hints", 3), Variant("backwards"), Variant("chain", 2), Variant("chain", 3)]
ODD_ONE_OUT = [Variant("odd-one-out", 3), Variant("odd-one-out", 5)]
CORRUPTED = [Variant("hints", 2, noise=0.05), Variant("hints", 2, covered=0.1)]
BACKWARDS = [Variant("backwards", by=by) for by in ("swapped", "tried")]


@pytest.fixture(scope="module")
def task() -> Task:
    task = Task.preset("glyphs", rules="rotation+translation")
    return replace(task, test_classes=40, test_count=60)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*VARIANTS, *CORRUPTED, *ODD_ONE_OUT], ids=str)
def test_the_oracle_solves_every_variant(task, variant):
    puzzles = task.test_puzzles(variant)
    solver = VariantSolver(Oracle(puzzles.rules, size=32), variant)
    # In a few puzzles the hints leave the image, or lie under the square that covers them.
    assert evaluate(solver, puzzles).accuracy > 0.9


@pytest.mark.parametrize("name", ["fine", "fine-nice", "esbn"])
def test_one_hint_is_answered_as_the_model_answers(task, name):
    model = make_model(name, channels=1, size=32).eval()
    images = task.test_puzzles().render(range(8)).images
    with torch.no_grad():
        torch.testing.assert_close(VariantSolver(model, PLAIN)(images), model(images))


@torch.no_grad()
def test_backwards_with_the_hint_swapped_is_a_plain_puzzle(task):
    model = make_model("transformer", channels=1, size=32).eval()
    variant = Variant("backwards", by="swapped")
    images = task.test_puzzles(variant).render(range(8)).images
    swapped = torch.cat((images[:, [1, 0]], images[:, 2:]), dim=1)
    assert torch.equal(VariantSolver(model, variant)(images), model(swapped))


@torch.no_grad()
@pytest.mark.parametrize("standardise", ["image", "pair"])
@pytest.mark.parametrize("variant", [*VARIANTS, *BACKWARDS], ids=str)
def test_the_order_of_the_choices_does_not_matter(task, variant, standardise):
    settings = {"standardise": standardise}
    model = make_model("fine", channels=1, size=32, settings=settings).eval()
    images = task.test_puzzles(variant).render(range(6)).images
    choices = images.shape[1] - 4
    reversed_ = torch.cat((images[:, :choices], images[:, choices:].flip(1)), dim=1)
    solver = VariantSolver(model, variant)
    torch.testing.assert_close(solver(reversed_), solver(images).flip(1), rtol=1e-3, atol=1e-4)


@torch.no_grad()
def test_the_order_of_pairs_does_not_matter_to_the_odd_one_out(task):
    model = make_model("fine", channels=1, size=32).eval()
    variant = Variant("odd-one-out", 4)
    images = task.test_puzzles(variant).render(range(6)).images
    reversed_ = images.unflatten(1, (4, 2)).flip(1).flatten(1, 2)
    solver = VariantSolver(model, variant)
    torch.testing.assert_close(solver(reversed_), solver(images).flip(1), rtol=1e-3, atol=1e-4)


@torch.no_grad()
def test_a_chain_of_functions_is_one_after_the_other(task):
    model = make_model("fine", channels=1, size=32).eval()
    variant = Variant("chain", 2)
    images = task.test_puzzles(variant).render(range(6)).images
    x1, y1, x2, y2, new, *choices = model.encode(images).unbind(1)
    halfway = model.apply_function(model.compose(x1, y1), new)
    guess = model.apply_function(model.compose(x2, y2), halfway)
    expected = -model.distance(torch.stack(choices, dim=1), guess[:, None])
    torch.testing.assert_close(VariantSolver(model, variant)(images), expected)


@torch.no_grad()
def test_the_most_similar_choice_is_the_one_that_is_shown():
    torch.manual_seed(0)
    model = make_model("fine", channels=1, size=32).eval()
    images = torch.rand(5, 7, 1, 32, 32)
    images[:, 5] = images[:, 2]  # the third choice is y'
    assert MostSimilar(model)(images).argmax(1).tolist() == [2] * 5


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (Variant("chain", 2), "composes no function, so it cannot be asked 'a chain of 2'"),
        (Variant("backwards"), "solve it with --by swapped"),
        (Variant("odd-one-out", 4), "use a FINE, or oracle"),
        (Variant("hints", 2), "use a FINE, or oracle"),
    ],
    ids=str,
)
def test_a_model_that_composes_no_function_is_refused(variant, message):
    with pytest.raises(FineError, match=message):
        VariantSolver(LeastSquaresPixels(), variant)


def test_one_hint_is_scored_as_the_model_scores_a_puzzle():
    torch.manual_seed(0)
    model = FINE(FINEConfig(score_all_directions=True), channels=1, size=32).eval()
    images = torch.rand(4, 7, 1, 32, 32)
    noisy = VariantSolver(model, Variant(noise=0.1)).eval()
    assert torch.equal(noisy(images), model(images))
