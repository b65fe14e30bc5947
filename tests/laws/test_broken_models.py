"""A model that computes NaN or infinity gives no answer, whatever it is asked: one line says so."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

import fine
from fine.analysis.function_map import make_function_map
from fine.evaluation.calibration import Calibration, all_ood_scores, calibrate
from fine.inference import residual
from fine.io.tensors import save_tensors
from fine.models import paper
from fine.models.finite import BrokenModelError
from fine.models.hub import save_model
from fine.models.surgery import slot_use
from fine.models.variant_solver import VariantSolver
from fine.training import Run

IMAGES = torch.rand(7, 1, 32, 32, generator=torch.Generator().manual_seed(0))
X, Y, NEW, *CHOICES = IMAGES
TASK = replace(fine.Task.preset("glyphs", rules="rotation"), test_count=60, test_classes=30)
CALIBRATION = Calibration(1.0, 0.5, 0.5, 0.3, false_alarms=0.05, puzzles=60)


def broken(name: str = "fine", **settings: Any) -> paper.FINE:
    """A model whose weights are finite, and too large for what is computed with them."""
    torch.manual_seed(0)
    model = fine.make_model(name, channels=1, size=32, settings=settings).eval()
    with torch.no_grad():
        model.encoder.layers[-1].weight.fill_(3e38)
    return model


def composed() -> fine.Function:
    """A function of a model that broke after it was composed."""
    model = fine.make_model("fine", channels=1, size=32).eval()
    function = fine.function(X, Y, model=model)
    model.encoder.layers[-1].weight.data.fill_(3e38)
    return function


QUESTIONS: dict[str, Callable[[paper.FINE], object]] = {
    "solve": lambda model: fine.solve(model, X, Y, NEW, CHOICES),
    "solve_many": lambda model: fine.solve_many(model, IMAGES[None]),
    "solve, calibrated": lambda model: fine.solve(
        model, X, Y, NEW, CHOICES, calibration=CALIBRATION
    ),
    "solve, two hints": lambda model: fine.solve(model, [X, X], [Y, Y], NEW, CHOICES),
    "explain": lambda model: fine.explain(model, X, Y),
    "draw_answer": lambda model: fine.draw_answer(model, X, Y, NEW),
    "function": lambda model: fine.function(X, Y, model=model),
    "residual": lambda model: residual(X, Y, model=model),
    "evaluate": lambda model: fine.evaluate(model, TASK.test_puzzles()),
    "calibrate": lambda model: calibrate(model, TASK.test_puzzles()),
    "scores": lambda model: all_ood_scores(model, IMAGES[None]),
    "map": lambda model: make_function_map(model, TASK, count=5, layout="principal"),
    "slots": lambda model: slot_use(model, TASK.test_puzzles()),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_broken_model_answers_nothing(question):
    with pytest.raises(BrokenModelError, match="this model computes NaN or infinity") as refusal:
        QUESTIONS[question](broken())
    assert "\n" not in str(refusal.value)


SETTINGS = [
    {"symmetry": "two-sided", "slots": 2},
    {"backbone": "residual"},
    {"analogy": "similarity"},
    {"analogy": "similarity", "query": "iterate"},
    {"slots": 0},
    {"backbone": "nice", "symmetry": "none"},
    {"score_all_directions": True},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_does_not_matter_how_functions_are_composed(settings):
    """Some ways invert matrices, which fails in other ways if they are not finite."""
    model = broken(**settings)
    for question in ("solve", "function", "evaluate", "scores"):
        with pytest.raises(BrokenModelError):
            QUESTIONS[question](model)


@pytest.mark.parametrize("variant", ["hints", "backwards", "chain", "odd-one-out"])
def test_a_broken_model_solves_no_variant(variant):
    asked = fine.Variant(variant, hints=1 if variant == "backwards" else 3)
    solver = VariantSolver(broken(), asked)
    with pytest.raises(BrokenModelError):
        fine.evaluate(solver, TASK.test_puzzles(asked))


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f(NEW),
        lambda f: f.choose(NEW, CHOICES),
        lambda f: f.distance(f),
        lambda f: f.nearest(),
    ],
    ids=["apply", "choose", "distance", "nearest"],
)
def test_a_function_is_not_applied_by_a_broken_model(ask):
    with pytest.raises(BrokenModelError):
        ask(composed())


def test_a_broken_model_reads_no_strings():
    model = fine.load("all-strings")
    model.encoder.gain.data.fill_(3e38)
    with pytest.raises(BrokenModelError):
        fine.solve_text(model, "abc", "abd", "ijk")


# The command line


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with images, and with a broken model, exported and as a run; all of it is finite."""
    folder = tmp_path_factory.mktemp("broken")
    model = broken()
    save_model(model, folder / "model")
    run = Run(folder / "run")
    run.save_config(fine.RunConfig(task=TASK).complete())
    save_tensors(run.weights, model.state_dict())
    for number, image in enumerate(IMAGES):
        Image.fromarray(image[0].mul(255).byte().numpy()).save(folder / f"{number}.png")
    return folder


PUZZLE = ("0.png", "1.png", "2.png", "3.png", "4.png", "--model", "model")
COMMANDS = {
    "solve": ("solve", *PUZZLE, "--json"),
    "draw": ("solve", *PUZZLE[:3], *PUZZLE[5:], "--candidates", "rotation", "--out", "out.png"),
    "explain": ("solve", *PUZZLE, "--explain", "--json"),
    "map": ("map", "model", "--rules", "rotation", "--count", "4", "--out", "map.html"),
    "calibrate": ("calibrate", "run", "--count", "80"),
    "evaluate": ("evaluate", "run", "--json", "result.json"),
    "slots": ("slots", "run", "--out", "slots.png"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_so_in_one_line_and_writes_nothing(command, place, monkeypatch, request):
    monkeypatch.chdir(place)
    before = sorted(place.rglob("*"))
    code, out, err = request.getfixturevalue("fine")(*COMMANDS[command])
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and "this model computes NaN or infinity" in err
    assert sorted(place.rglob("*")) == before
