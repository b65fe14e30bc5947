"""A puzzle of a benchmark: files, the right choice, and what the puzzle tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fine.errors import FineError


@dataclass(frozen=True)
class BenchmarkPuzzle:
    """Files of a puzzle that others made."""

    name: str
    """What the puzzle is called in its benchmark."""
    concept: str
    """What it tests, such as Reflect; empty if the benchmark does not say."""
    parameter: str
    """More closely, such as ReflectX."""
    x: tuple[Path, ...]
    """The images of the hints."""
    y: tuple[Path, ...]
    """What became of each of them."""
    new: Path
    """Another image."""
    choices: tuple[Path, ...]
    """What may become of that one."""
    answer: int
    """The place of the right choice, from 0."""


def check_puzzle(puzzle: BenchmarkPuzzle) -> BenchmarkPuzzle:
    """The puzzle itself; an error if it is none."""
    if not 0 <= puzzle.answer < len(puzzle.choices):
        raise FineError(
            f"{puzzle.name}: its answer is choice {puzzle.answer + 1} of {len(puzzle.choices)}: "
            "name one of the choices"
        )
    if len(puzzle.choices) < 2:
        raise FineError(f"{puzzle.name} has {len(puzzle.choices)} choices: expected at least 2")
    for file in (*puzzle.x, *puzzle.y, puzzle.new, *puzzle.choices):
        if not _is_file(file):
            raise FineError(f"{puzzle.name}: {file} is missing")
    return puzzle


def _is_file(path: Path) -> bool:
    """Whether there is a file; a name that no file can have is of none."""
    try:
        return path.is_file()
    except OSError:
        return False


def check_some(puzzles: Sequence[BenchmarkPuzzle], expected: str) -> None:
    """Refuse a folder without puzzles."""
    if not puzzles:
        raise FineError(expected)
