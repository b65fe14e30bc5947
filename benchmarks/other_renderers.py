"""Puzzles of another make: python benchmarks/other_renderers.py [--model MODEL] [--count 200]

Letters, icons, silhouettes, coarse digits and photographs of CIFAR-100 under affine rules on and
off the paper's grids, moved by Pillow and by SciPy (tests/support/other_renderers.py); and shapes
that are drawn anew at their new place, by no resampling at all (tests/support/drawn_anew.py). A row
has the share answered right by the network alone and with rules checked on the pixels. With
--mixes, images are turned and moved at once, half of them mirrored, half of them scaled. At last it
prints the rows of the table in docs/solve.md.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from fine import Answer, load, solve_many
from fine.evaluation.metrics import wilson
from timing import show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import drawn_anew, other_renderers
from support.other_renderers import FAMILIES, MIXED, OtherPuzzle

NAMES = (
    *("images", "moved by", "wrong rule", "n", "network", "both", "interval of both"),
    *("verified", "verified and wrong"),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="universal")
    parser.add_argument("--count", type=int, default=200, help="puzzles of a row")
    parser.add_argument("--start", type=int, default=0, help="number of the first puzzle")
    parser.add_argument("--mixes", action="store_true", help="turned and moved at once")
    options = parser.parse_args()
    model, rows = load(options.model), []
    families = MIXED if options.mixes else FAMILIES
    numbers = range(options.start, options.start + options.count)
    for names, puzzles in kinds(numbers, families):
        answers = solve_many(model, [(one.x, one.y, one.new, one.choices) for one in puzzles])
        rows.append((*names, *shares(answers, puzzles)))
        print(*rows[-1], sep=" | ", flush=True)
    show("Puzzles of another make", NAMES, rows)
    print(*rows_of_the_docs(rows), sep="\n")


def kinds(
    numbers: range, families: tuple[str, ...]
) -> Iterator[tuple[tuple[str, str, str], list[OtherPuzzle]]]:
    """Every row: what its puzzles are called, and the puzzles."""
    data = Path(os.environ.get("FINE_DATA", "data"))
    photographs = other_renderers.cifar_photographs(data)
    for kind in other_renderers.KINDS:
        for renderer in other_renderers.RENDERERS:
            for near in (False, True):
                puzzles = [
                    other_renderers.make_puzzle(
                        kind,
                        renderer,
                        number=number,
                        near=near,
                        photographs=photographs,
                        families=families,
                    )
                    for number in numbers
                ]
                yield (kind, renderer, distance(near)), puzzles
    for kind in drawn_anew.KINDS:
        for near in (False, True):
            puzzles = [
                drawn_anew.make_puzzle(kind, number=number, near=near, families=families)
                for number in numbers
            ]
            yield (kind, "drawn anew", distance(near)), puzzles


def shares(answers: list[Answer], puzzles: list[OtherPuzzle]) -> tuple[str, ...]:
    both = list(zip(answers, puzzles, strict=True))
    alone = sum(answer.model_index == puzzle.answer for answer, puzzle in both)
    right = sum(answer.index == puzzle.answer for answer, puzzle in both)
    verified = [(answer, puzzle) for answer, puzzle in both if answer.verified]
    wrong = sum(answer.index != puzzle.answer for answer, puzzle in verified)
    count = len(both)
    low, high = wilson(right, count)
    counts = (f"{alone / count:.1%}", f"{right / count:.1%}", f"{low:.1%} – {high:.1%}")
    return str(count), *counts, f"{len(verified) / count:.1%}", str(wrong)


def rows_of_the_docs(rows: list[tuple[str, ...]]) -> list[str]:
    """A row for far and near together: images, moved by, and the shares in %."""
    of = {row[:3]: [share.rstrip("%").removesuffix(".0") for share in row[4:6]] for row in rows}
    kinds = dict.fromkeys(row[:2] for row in rows)
    return [
        f"| {' | '.join((*kind, *of[(*kind, 'far')], *of[(*kind, 'near')]))} |" for kind in kinds
    ]


def distance(near: bool) -> str:
    return "near" if near else "far"


if __name__ == "__main__":
    main()
