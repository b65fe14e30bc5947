"""Solvers: the rules of a model, batches that change no answer, and maps of functions."""

import shutil

import pytest
import torch

from fine.analysis.function_map import function_vectors
from fine.demo.page_map import EDGE, make_page_map
from fine.demo.solver import Solver, SolveRequest, answer_all
from fine.demo.sources import images_of, quiz_of
from fine.errors import FineError
from fine.inference import PuzzleImages
from fine.pretrained import DEFAULT, folder_of
from fine.rules import Warp, rule_set
from support.demo import MODEL


@pytest.mark.parametrize(
    ("name", "rules"), [(MODEL, "all"), (DEFAULT, "all"), ("affine-omniglot", "affine")]
)
def test_a_bundled_model_has_the_rules_it_was_trained_on(name, rules):
    solver = Solver.load(name)
    assert solver.name == name
    assert solver.rules.rules == rule_set(rules).rules


def test_a_model_in_a_folder_has_the_folder_s_name(tmp_path):
    shutil.copytree(folder_of("affine-omniglot"), tmp_path / "mine")
    solver = Solver.load(str(tmp_path / "mine"))
    assert solver.name == "mine"
    assert solver.rules.rules == rule_set("affine").rules


@pytest.mark.parametrize(
    ("trained", "families"),
    [("patchwork+rotation", ["rotation"]), ("rotation:seen", ["rotation"]), ("patchwork", None)],
)
def test_only_families_of_the_page_are_offered(tmp_path, trained, families):
    folder = tmp_path / "mine"
    shutil.copytree(folder_of(MODEL), folder)
    config = (folder / "config.json").read_text()
    assert '"rules": "all"' in config
    (folder / "config.json").write_text(config.replace('"rules": "all"', f'"rules": "{trained}"'))
    offered = list(Solver.load(str(folder)).rules.families)
    assert offered == (families or list(rule_set("all").families))


def test_a_model_that_reads_strings_is_refused():
    with pytest.raises(FineError, match="'all-strings' reads strings, not images"):
        Solver.load("all-strings")


@pytest.mark.slow
def test_a_batch_changes_no_answer():
    solver = Solver.load(MODEL)
    puzzles, render = quiz_of("glyphs", rules="all", channels=1, size=32)
    images = render(puzzles.specs[:6]).images
    requests = [  # with four, three and two choices
        SolveRequest(MODEL, PuzzleImages(*images[n, :3], tuple(images[n, 3 : 7 - n % 3])))
        for n in range(6)
    ]
    together = answer_all({MODEL: solver}, requests)
    for request, answer in zip(requests, together, strict=True):
        (alone,) = answer_all({MODEL: solver}, [request])
        assert len(answer.probabilities) == len(request.puzzle.choices)
        assert answer.probabilities == pytest.approx(alone.probabilities, abs=1e-5)
        assert (answer.rule, answer.verified) == (alone.rule, alone.verified)


def test_a_map_is_the_same_every_time_and_places_other_functions():
    solver, images = Solver.load(MODEL), images_of("glyphs", channels=1, size=32)
    rules = rule_set("scale")
    made, again = (make_page_map(solver.model, images, rules, count=8) for _ in range(2))
    assert torch.equal(made.points, again.points) and len(made.points) == 8
    x = images.pixels[:3] / 255
    y = Warp(rules, size=32)(x, torch.tensor([0, 1, 2]))
    places = made.place(function_vectors(solver.model, x, y))
    assert places.shape == (3, 2) and (places.abs() <= EDGE).all()
