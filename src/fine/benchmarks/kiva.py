"""KiVA, visual analogies that three-year-olds can solve (Yiu et al., ICLR 2025), as it is stored.

    read_kiva(Path("KiVA"))      # a clone of its repository, or one folder of its objects

Files are called CONCEPTPARAMETER_TRIAL_PART.png. The parts train_0_input, train_0_output,
test_0_input, test_mc_0_input and test_mc_1_input are x, y, x', the right and the wrong choice; the
third choice is x' itself, unchanged. The harder set, KiVA-adults, has the first three without _0.
"""

import re
from pathlib import Path

from fine.benchmarks.puzzles import BenchmarkPuzzle, check_puzzle, check_some
from fine.errors import FineError

CONCEPTS = ("2DRotation", "Reflect", "Resize", "Counting", "Colour")
"""What KiVA tests; the names are those of its folders."""
_NAME = re.compile(r"(?P<parameter>.+)_(?P<trial>\d+)_train(?:_0)?_input\.png")
_FOLDERS = ("", "KiVA", "transformed objects/KiVA")


def read_kiva(path: Path) -> list[BenchmarkPuzzle]:
    """All trials below a folder, by concept, parameter and number."""
    if not path.is_dir():
        raise FineError(f"{path} is no folder: give a clone of KiVA's repository")
    root = kiva_root(path)
    puzzles = []
    for concept in CONCEPTS:
        found = [
            (match["parameter"], int(match["trial"]), file)
            for file in (root / concept).glob("*_input.png")
            if (match := _NAME.fullmatch(file.name))
        ]
        puzzles += [_trial(concept, *entry) for entry in sorted(found)]
    check_some(
        puzzles,
        f"{path} has no trials of KiVA: expected files such as "
        "2DRotation/2DRotation+90_0_train_0_input.png below it",
    )
    return puzzles


def kiva_root(path: Path) -> Path:
    """The folder that holds the folders of the concepts."""
    for inner in _FOLDERS:
        if any((path / inner / concept).is_dir() for concept in CONCEPTS):
            return path / inner
    return path


def _trial(concept: str, parameter: str, number: int, x: Path) -> BenchmarkPuzzle:
    infix = "_0" if "_train_0_" in x.name else ""
    stem = f"{parameter}_{number}"

    def part(name: str) -> Path:
        return x.with_name(f"{stem}_{name}.png")

    new = part(f"test{infix}_input")
    choices = [part("test_mc_0_input"), part("test_mc_1_input"), new]
    # The right choice is the first of the files. Its place changes, so that a tie is no help.
    first = number % len(choices)
    return check_puzzle(
        BenchmarkPuzzle(
            name=stem,
            concept=concept,
            parameter=parameter,
            x=(x,),
            y=(part(f"train{infix}_output"),),
            new=new,
            choices=(*choices[-first:], *choices[:-first]) if first else tuple(choices),
            answer=first,
        )
    )
