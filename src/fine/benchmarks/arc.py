"""ARC: tasks on grids of coloured cells, as far as one turn or mirror of the grid explains them.

    tasks = read_arc(Path("ARC/data/training"))        # the published JSON, a file for each task
    outcome = solve_arc(model, tasks[0])
    outcome.exact                                      # whether every test grid came out right

Cells become shades of grey, all examples of a task are hints at once, and the eight symmetries of
the square are the candidates. The rule that is named is applied to the grid itself, so an answer is
right in every cell or wrong.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fine.benchmarks.running import BenchmarkRow
from fine.errors import FineError
from fine.geometry.d4 import D4
from fine.inference import draw_answer
from fine.io.typed_json import parse_json
from fine.io.untrusted import read_text
from fine.models.paper import FINE
from fine.rules import Rule, apply_rules, rule_set

LARGEST = 30
"""Cells a side of the largest grid in ARC."""
COLOURS = 10
_PIXELS = 4  # a cell, an even number: a grid then lies in the middle of its square to the pixel
_LARGEST_FILE = 20_000_000  # bytes; an edition of a thousand tasks has seven million
_MOST_PAIRS = 100  # of a task; ARC has up to ten

Grid = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ArcTask:
    """Examples and tests: pairs of an input and an output grid."""

    name: str
    train: tuple[tuple[Grid, Grid], ...]
    test: tuple[tuple[Grid, Grid], ...]

    @property
    def is_geometric(self) -> bool:
        """Whether one symmetry of the square, and not the identity, explains all examples."""
        return any(
            all(_moved(element, before) == after for before, after in self.train)
            for element in range(1, D4.order)
        )


@dataclass(frozen=True)
class ArcOutcome:
    """What was made of a task."""

    task: ArcTask
    rule: str
    """The symmetry that was named."""
    grids: tuple[Grid, ...]
    """What it makes of the inputs of the tests."""
    verified: bool
    """Whether it takes every input of the examples to its output."""

    @property
    def exact(self) -> bool:
        """Whether every cell of every test is right."""
        return self.grids == tuple(after for _, after in self.task.test)


def read_arc(path: Path) -> list[ArcTask]:
    """The tasks of a JSON file, or of all JSON files below a folder, by name."""
    if path.is_dir():
        files = sorted(path.glob("**/*.json"))
    elif path.is_file():
        files = [path]
    else:
        raise FineError(f"{path} is missing: give a folder of ARC's JSON files, or one of them")
    tasks = [task for file in files for task in _read_file(file)]
    if not tasks:
        raise FineError(f"{path} has no tasks: expected ARC's JSON files in it")
    return tasks


def solve_arc(model: FINE, task: ArcTask, *, verify: bool = True) -> ArcOutcome:
    """The symmetry that a model names for all examples together, applied to the tests."""
    side = max(
        len(line) for pair in task.train + task.test for grid in pair for line in (grid, grid[0])
    )
    xs, ys = ([_drawn(pair[n], side) for pair in task.train] for n in range(2))
    new = _drawn(task.test[0][0], side)
    named = draw_answer(model, xs, ys, new, rules="square", verify=verify).rules[0]
    element = _elements()[named.rule]
    made = tuple(_moved(element, before) for before, _ in task.test)
    verified = all(_moved(element, before) == after for before, after in task.train)
    return ArcOutcome(task, named.label, made, verified)


def arc_row(outcomes: Sequence[tuple[ArcOutcome, ArcOutcome]]) -> BenchmarkRow:
    """Tasks as the puzzles of one concept: each solved with the pixels, and by the network alone.

    A guess is one of the eight symmetries.
    """
    return BenchmarkRow(
        concept="square",
        parameter="",
        puzzles=len(outcomes),
        right=sum(outcome.exact for outcome, _ in outcomes),
        right_alone=sum(alone.exact for _, alone in outcomes),
        verified=sum(outcome.verified for outcome, _ in outcomes),
        chance=1 / D4.order,
    )


@functools.cache
def _elements() -> dict[Rule, int]:
    """The group element that each rule of the square is."""
    marked = torch.arange(9.0).view(1, 3, 3) / 10
    moved = {tuple(D4.move(n, marked).flatten().tolist()): n for n in range(D4.order)}
    rules = rule_set("square").rules
    found = {}
    for rule in rules:
        pixels = apply_rules(marked, [rule]).mul(10).round().div(10)
        found[rule] = moved[tuple(pixels.flatten().tolist())]
    return found


def _moved(element: int, grid: Grid) -> Grid:
    moved = D4.move(element, torch.tensor(grid))
    return tuple(tuple(row) for row in moved.tolist())


def _drawn(grid: Grid, side: int) -> Tensor:  # (1, pixels, pixels)
    """Cells as squares of grey in the middle of a black square of ``side`` cells."""
    cells = torch.tensor(grid, dtype=torch.float32)
    shades = torch.where(cells > 0, 0.2 + 0.8 * cells / (COLOURS - 1), 0.0)
    large = shades.repeat_interleave(_PIXELS, 0).repeat_interleave(_PIXELS, 1)
    height, width = large.shape
    top, left = (side * _PIXELS - height) // 2, (side * _PIXELS - width) // 2
    canvas = torch.zeros(1, side * _PIXELS, side * _PIXELS)
    canvas[0, top : top + height, left : left + width] = large
    return canvas


def _read_file(file: Path) -> list[ArcTask]:
    try:
        content = parse_json(read_text(file, largest=_LARGEST_FILE, expected="a task of ARC"))
        # Newer editions have all tasks in one file, by name.
        tasks = {file.stem: content} if "train" in content else content
        return [_task(name, task) for name, task in tasks.items()]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise FineError(
            f"{file} is not a task of ARC ({type(problem).__name__}): expected JSON with train and "
            "test, each a list of input and output grids"
        ) from problem


def _task(name: str, content: Any) -> ArcTask:
    train, test = (
        tuple((_grid(pair["input"]), _grid(pair["output"])) for pair in content[part])
        for part in ("train", "test")
    )
    if not (1 <= len(train) <= _MOST_PAIRS and 1 <= len(test) <= _MOST_PAIRS):
        raise ValueError("a task without examples or tests, or with too many")
    return ArcTask(name, train, test)


def _grid(rows: Any) -> Grid:
    grid = tuple(tuple(row) for row in rows)
    widths = {len(row) for row in grid}
    if len(widths) != 1 or not 1 <= len(grid) <= LARGEST or not 1 <= len(grid[0]) <= LARGEST:
        raise ValueError("a grid whose rows differ, or that is too large")
    if not all(type(cell) is int and 0 <= cell < COLOURS for row in grid for cell in row):
        raise ValueError("a colour that is none")
    return grid
