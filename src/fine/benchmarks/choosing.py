"""A benchmark answered by any model that chooses among images, such as a Transformer.

    model = load_any("runs/vit")             # a Chooser; for a run of `fine`, the model itself
    answers = choose(model, puzzles)

Such a model has no function that could be looked at, and all that it says are logits. It reads the
images as `solve` does, and no rule is tried on the pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from fine.benchmarks.puzzles import BenchmarkPuzzle
from fine.errors import FineError
from fine.inference import Answer
from fine.inference.puzzle_images import ReadPuzzle, viewed
from fine.models.comparison.sequence import CHOICES
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.pretrained import holds_run, load, names
from fine.training.run import Run

_BATCH = 100


@dataclass(frozen=True)
class Chooser:
    """A model, and what images it sees."""

    network: nn.Module
    """Images (b, 7, channels, size, size) -> logits (b, 4)."""
    channels: int
    size: int


def load_any(name: str) -> FINE | Chooser:
    """A bundled model, an exported one, or that of a run folder, which may be any."""
    folder = Path(name)
    if name in names() or not folder.is_dir() or not holds_run(folder):
        return load(name)
    run = Run(folder)
    network, config = run.load(), run.config()
    if isinstance(network, FINE):
        return load(name)  # with its calibration
    if config.task.shows_strings:
        raise FineError(f"{name} reads strings, not images: give a run that was trained on images")
    return Chooser(network.eval(), channels=config.channels, size=config.task.size)


@torch.inference_mode()
def choose(chooser: Chooser, puzzles: Sequence[BenchmarkPuzzle]) -> list[Answer]:
    """The model's answers, by its logits alone."""
    answers: list[Answer] = []
    for start in range(0, len(puzzles), _BATCH):
        part = puzzles[start : start + _BATCH]
        logits = check_finite(chooser.network(torch.stack([_seen(p, chooser) for p in part])))
        answers += map(_answer, logits, (len(puzzle.choices) for puzzle in part))
    return answers


def _seen(puzzle: BenchmarkPuzzle, chooser: Chooser) -> Tensor:  # (7, channels, size, size)
    """A puzzle as the model sees it, with as many choices as it was trained with.

    Where there are fewer, y fills the places left: what f makes of another image, as one of the
    wrong choices in training is. It is never taken.
    """
    read = ReadPuzzle.read(puzzle.x, puzzle.y, puzzle.new, puzzle.choices)
    if read.hints > 1 or len(puzzle.choices) > CHOICES:
        raise FineError(
            f"{puzzle.name} (hints: {read.hints}, choices: {len(puzzle.choices)}) is not for this "
            f"model: one that composes no functions takes one hint and at most {CHOICES} choices"
        )
    images = viewed(read.sized(chooser)[None], read.plain, chooser)[0]
    return torch.cat((images, *[images[1:2]] * (CHOICES - len(puzzle.choices))))


def _answer(logits: Tensor, choices: int) -> Answer:  # (4,)
    """The likeliest of the choices that the puzzle has."""
    probabilities = logits[:choices].softmax(dim=0)
    return Answer(index=int(probabilities.argmax()), probabilities=tuple(probabilities.tolist()))
