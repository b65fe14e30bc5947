"""Benchmarks answered by models of any kind, by their logits alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from fine.benchmarks import BenchmarkPuzzle, Chooser, load_any, run_benchmark
from fine.errors import FineError
from fine.models.paper import FINE


class Brightest(nn.Module):
    """Takes the choice with the most light in it, and remembers what it was shown."""

    def forward(self, images: Tensor) -> Tensor:
        self.shown = images
        return images[:, 3:].flatten(2).mean(2)


def squares(folder: Path, sides: dict[str, int]) -> dict[str, Path]:
    """White squares on black, by name."""
    files = {}
    for name, side in sides.items():
        pixels = np.zeros((40, 40), dtype=np.uint8)
        pixels[5 : 5 + side, 5 : 5 + side] = 255
        files[name] = folder / f"{name}.png"
        Image.fromarray(pixels).save(files[name])
    return files


def made(files: dict[str, Path], choices: str, *, hints: int = 1) -> BenchmarkPuzzle:
    return BenchmarkPuzzle(
        name="squares",
        concept="size",
        parameter="",
        x=(files["x"],) * hints,
        y=(files["y"],) * hints,
        new=files["new"],
        choices=tuple(files[name] for name in choices),
        answer=1,
    )


@pytest.fixture
def files(tmp_path):
    return squares(tmp_path, {"x": 6, "y": 30, "new": 8, "a": 10, "b": 20, "c": 15, "d": 4})


def test_y_fills_the_places_that_a_puzzle_leaves_and_is_never_taken(files):
    network = Brightest()
    outcome = run_benchmark(Chooser(network, channels=1, size=32), [made(files, "abc")])
    assert network.shown.shape == (1, 7, 1, 32, 32)
    assert torch.equal(network.shown[0, 6], network.shown[0, 1])
    (answer,) = outcome.answers
    assert answer.index == 1 and len(answer.probabilities) == 3 and not answer.verified
    (row,) = outcome.rows()
    assert (row.right, row.right_alone, row.verified) == (1, 1, 0)


def test_puzzles_with_as_many_choices_as_in_training_are_shown_as_they_are(files):
    network = Brightest()
    puzzles = [made(files, "abcd"), made(files, "bacd")]
    outcome = run_benchmark(Chooser(network, channels=3, size=32), puzzles)
    assert network.shown.shape == (2, 7, 3, 32, 32)
    assert [answer.index for answer in outcome.answers] == [1, 0]


def test_more_hints_or_choices_than_a_sequence_has_places_for_are_refused(files):
    chooser = Chooser(Brightest(), channels=1, size=32)
    for puzzle, said in (
        (made(files, "ab", hints=2), "hints: 2"),
        (made(files, "abcda"), "choices: 5"),
    ):
        with pytest.raises(FineError, match=said):
            run_benchmark(chooser, [puzzle])


def test_a_model_that_composes_functions_is_loaded_as_such():
    assert isinstance(load_any("all-glyphs"), FINE)
    with pytest.raises(FineError, match="unknown model 'universel'"):
        load_any("universel")
