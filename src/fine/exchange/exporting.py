"""Puzzles of a task, written for programs that know nothing of this one.

export_puzzles(Task.preset("glyphs", rules="rotation"), "out.npz", count=1000)
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fine.errors import FineError, unknown
from fine.evaluation import evaluate
from fine.exchange.answer_key import LETTERS, AnswerKey
from fine.exchange.cards import card
from fine.exchange.formats import FORMAT, Export, checksum, writer_of
from fine.models.oracle import LIMITS
from fine.models.variant_solver import VariantSolver
from fine.puzzles import Puzzles
from fine.puzzles.task import PRESETS, Task
from fine.puzzles.variants import PLAIN, Variant, VariantPuzzles
from fine.version import __version__

SPLITS = ("test", "training")
CONTROL_PUZZLES = 500
"""How many of the puzzles, from the first, the oracle and the least-squares map solve."""
_CHUNK = 250  # puzzles rendered at once


def export_puzzles(
    task: Task,
    path: str | Path,
    *,
    split: str = "test",
    seed: int = 0,
    start: int = 0,
    count: int = 100,
    variant: Variant = PLAIN,
) -> None:
    """Write puzzles of a task to files that any program can read, with a card about them.

    Pixels are whole numbers from 0 to 255, the same in every format.

    Args:
        task: Images and rules.
        path: NAME.npz for NumPy, NAME.parquet, a folder for PNG and CSV, or hub:FOLDER for the
            layout of a data set on the Hugging Face hub.
        split: ``test`` or ``training``.
        seed: Seed of the training puzzles; the test puzzles are one fixed set.
        start: Number of the first puzzle.
        count: How many puzzles.
        variant: What the puzzles ask; by default the plain ones.

    Examples:
        >>> import fine, numpy as np
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20)
        >>> fine.export_puzzles(task, "puzzles.npz", count=10)
        >>> puzzles = np.load("puzzles.npz")
        >>> puzzles["images"].shape, puzzles["images"].dtype, puzzles["shown"].tolist()
        ((10, 7, 1, 32, 32), dtype('uint8'), ['x', 'y', 'new', 'A', 'B', 'C', 'D'])
    """
    write = writer_of(str(path))
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if task.shows_strings:
        raise FineError(
            "puzzles over strings have no pixels to export: fine.Puzzles.texts gives their letters"
        )
    puzzles = _draw(task, split, seed, start + count, variant)[start:]
    images = _render(puzzles)
    about = {
        "format": FORMAT,
        "fine": __version__,
        "puzzles": len(puzzles),
        "start": start,
        "split": split,
        **({"seed": seed} if split == "training" else {}),
        "task": _public_task(task),
        "variant": str(variant),
        "licence": "mit" if task.images == "glyphs" and not task.test_images else "other",
        "channels": images.shape[2],
        "sha256": checksum(images),
        "controls": _controls(puzzles, variant, task.size),
    }
    key = AnswerKey.of(puzzles, start=start, about=about)
    shown = _shown(puzzles, images.shape[1])
    write(Export(images, shown, key, card(task, puzzles, shown, key.about)))


def _draw(task: Task, split: str, seed: int, end: int, variant: Variant) -> Puzzles:
    counted = replace(task, train_count=end, test_count=end)
    if split == "training":
        return counted.training_puzzles(seed=seed, variant=variant)
    return counted.test_puzzles(variant)


def _render(puzzles: Puzzles) -> NDArray[np.uint8]:
    """All images of the puzzles in 256 levels, as they are drawn everywhere else."""
    parts = [range(at, min(at + _CHUNK, len(puzzles))) for at in range(0, len(puzzles), _CHUNK)]
    images = [puzzles.render(part).images.mul(255).round().byte() for part in parts]
    return torch.cat(images).numpy()


def _shown(puzzles: Puzzles, count: int) -> tuple[str, ...]:
    """What each of the ``count`` images of a puzzle is."""
    asks = not isinstance(puzzles, VariantPuzzles) or bool(puzzles.variant.kind.asks)
    asked = ("new", *LETTERS[: puzzles.kinds.shape[1]]) if asks else ()
    hints = (count - len(asked)) // 2
    if hints == 1:
        return ("x", "y", *asked)
    return (*(f"{name}{hint}" for hint in range(1, hints + 1) for name in "xy"), *asked)


def _public_task(task: Task) -> dict[str, Any]:
    """A task for others to read, by its name if it has one."""
    names = [name for name in PRESETS if _is_preset(task, name)]
    return {**({"name": names[0]} if names else {}), **task.shared()}


def _is_preset(task: Task, name: str) -> bool:
    rules = task.rules.partition(":")[0]
    preset = Task.preset(name, rules=rules)
    kept = {"train_count", "test_count", "data_root"}
    return replace(preset, **{field: getattr(task, field) for field in kept}) == task


def _controls(puzzles: Puzzles, variant: Variant, size: int) -> dict[str, Any]:
    """What can be reached without learning, on the first of these puzzles."""
    few = puzzles[:CONTROL_PUZZLES]
    scores: dict[str, Any] = {"puzzles": len(few)}
    for name in LIMITS if variant == PLAIN else ["oracle"]:  # pixels compose no function
        model = LIMITS[name](puzzles.rules, size)
        solver = model if variant == PLAIN else VariantSolver(model, variant)
        scores[name] = round(evaluate(solver, few).accuracy, 4)
    return scores
