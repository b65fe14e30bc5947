"""Anyone's puzzles: a folder for each, or one table of paths.

    puzzles/
      turned/                  optional: what the puzzles below it test
        001/  x.png y.png new.png a.png b.png c.png d.png answer.txt      (the letter: b)

Further hints are x2.png y2.png, x3.png y3.png … Images may be in any format that `read_image`
takes. A table is a CSV file with the columns x, y, new, a, b, … and answer, and, if there is one,
concept; paths in it are relative to its folder.
"""

import string
from collections.abc import Mapping
from pathlib import Path

from fine.benchmarks.puzzles import BenchmarkPuzzle, check_puzzle, check_some
from fine.errors import FineError
from fine.io.tables import parse_table
from fine.io.untrusted import read_text

ANSWER = "answer.txt"
_LARGEST_ANSWER, _LARGEST_TABLE = 1_000, 50_000_000  # bytes
_MOST_HINTS = 16


def read_folder(path: Path) -> list[BenchmarkPuzzle]:
    """The puzzles of a folder or of a CSV file, sorted by name."""
    if path.is_file():
        return _read_table(path)
    if not path.is_dir():
        raise FineError(f"{path} is missing: give a folder of puzzles, or a CSV file of paths")
    folders = sorted({file.parent for file in path.glob("**/" + ANSWER)})
    puzzles = [_read_one(folder, path) for folder in folders]
    check_some(
        puzzles,
        f"{path} has no puzzles: expected folders with x.png, y.png, new.png, a.png, b.png and "
        f"{ANSWER}",
    )
    return puzzles


def _read_one(folder: Path, root: Path) -> BenchmarkPuzzle:
    files = {file.stem: file for file in sorted(folder.iterdir()) if file.name != ANSWER}
    name = str(folder.relative_to(root))
    expected = f"the letter of the right choice in {ANSWER}"
    answer = _text(folder / ANSWER, largest=_LARGEST_ANSWER, expected=expected)
    concept = "" if folder.parent == root else folder.parent.name
    return _puzzle(name, concept, files, answer)


def _read_table(path: Path) -> list[BenchmarkPuzzle]:
    expected = "a CSV file of paths"
    text = _text(path, largest=_LARGEST_TABLE, expected=expected)
    try:
        rows = parse_table(text)
    except ValueError as problem:
        raise FineError(f"{path} cannot be read ({problem}): expected {expected}") from problem
    puzzles = []
    for number, row in enumerate(rows, start=1):
        cells = {key: value for key, value in row.items() if isinstance(key, str) and value}
        answer, concept = cells.pop("answer", ""), cells.pop("concept", "")
        files = {key: path.parent / value for key, value in cells.items()}
        puzzles.append(_puzzle(f"{path.name}, row {number}", concept, files, answer))
    check_some(puzzles, f"{path} has no rows: expected the columns x, y, new, a, b and answer")
    return puzzles


def _text(path: Path, *, largest: int, expected: str) -> str:
    try:
        return read_text(path, largest=largest, expected=expected)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise FineError(f"{path} cannot be read ({reason}): expected {expected}") from problem


def _puzzle(name: str, concept: str, files: Mapping[str, Path], answer: str) -> BenchmarkPuzzle:
    hints = ["", *map(str, range(2, _MOST_HINTS + 1))]
    hints = [hint for hint in hints if f"x{hint}" in files or f"y{hint}" in files]
    needed = [*(f"{side}{hint}" for hint in hints for side in "xy"), "x", "y", "new"]
    for key in needed:
        if key not in files:
            raise FineError(f"{name} has no '{key}': expected x, y, new, choices a, b, …")
    # x and y are images of the hint, so choices go up to w.
    letters = [letter for letter in string.ascii_lowercase[:23] if letter in files]
    letter = answer.strip().lower()
    if letter not in letters:
        raise FineError(
            f"{name}: its answer is '{letter[:20]}': expected one of its choices, "
            f"{', '.join(letters) or 'of which there are none'}"
        )
    return check_puzzle(
        BenchmarkPuzzle(
            name=name,
            concept=concept,
            parameter="",
            x=tuple(files[f"x{hint}"] for hint in hints),
            y=tuple(files[f"y{hint}"] for hint in hints),
            new=files["new"],
            choices=tuple(files[letter] for letter in letters),
            answer=letters.index(letter),
        )
    )
