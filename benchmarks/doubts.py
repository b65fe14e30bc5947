"""How far confidence and doubts can be believed: python benchmarks/doubts.py [--anew]

Puzzles of another make (tests/support/other_renderers.py, or with --anew drawn_anew.py), as they
are, and made unsolvable in three ways: the right choice is left out; y belongs to another puzzle;
x is round, and was turned. Prints the calibration error, and for each way how well scores tell such
puzzles from sound ones (AUROC, the probability that the score of one is above that of a sound one),
and how often a doubt is said.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw

from fine import Answer, load, solve_many
from fine.evaluation.calibration import calibration_error
from fine.evaluation.ood import auroc, auroc_interval
from timing import show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import drawn_anew, other_renderers
from support.other_renderers import OtherPuzzle

Puzzles = Sequence[OtherPuzzle]
Score = Callable[[Answer], float]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="universal")
    parser.add_argument("--count", type=int, default=60, help="puzzles of each kind of images")
    parser.add_argument("--anew", action="store_true", help="images drawn anew, not resampled")
    options = parser.parse_args()
    model = load(options.model)
    sound = drawn(options.count) if options.anew else moved(options.count)
    ways = {
        "sound": sound,
        "right choice left out": [without_answer(one) for one in sound],
        "y of another puzzle": [
            replace(one, y=other.y)
            for one, other in zip(sound, [*sound[7:], *sound[:7]], strict=True)
        ],
        "x is round, and turned": [with_round_hint(one, n) for n, one in enumerate(sound)],
    }
    answers = {name: answered(model, puzzles) for name, puzzles in ways.items()}
    alone = solve_many(model, [asked(one) for one in sound], verify=False)
    show(
        "Confidence",
        ("", "n", "right", "mean confidence", "ECE"),
        [
            calibration("network alone", alone, sound),
            calibration("with the pixels", answers["sound"], sound),
        ],
    )
    scores: dict[str, tuple[Score, Score]] = {
        "right choice left out": (lambda a: a.distance, difference_of_answer),
        "y of another puzzle": (lambda a: a.residual, lambda a: a.evidence.difference),
        "x is round, and turned": (
            lambda a: 1 - max(a.model_probabilities),
            lambda a: a.evidence.ambiguity,
        ),
    }
    rows = [("sound", str(len(sound)), "", "", doubted(answers["sound"]))]
    for name, pair in scores.items():
        areas = [area(score, answers[name], answers["sound"]) for score in pair]
        rows.append((name, str(len(answers[name])), *areas, doubted(answers[name])))
    show("Doubts", ("puzzles", "n", "AUROC, network", "AUROC, pixels", "doubted"), rows)


def moved(count: int) -> Puzzles:
    """Puzzles by Pillow."""
    photographs = other_renderers.cifar_photographs(Path(os.environ.get("FINE_DATA", "data")))
    return [
        other_renderers.make_puzzle(
            kind, "pillow", number=10_000 + number, near=number % 4 > 1, photographs=photographs
        )
        for kind in other_renderers.KINDS
        for number in range(count)
    ]


def drawn(count: int) -> Puzzles:
    """Puzzles of shapes that are drawn anew."""
    return [
        drawn_anew.make_puzzle(kind, number=10_000 + number, near=number % 4 > 1)
        for kind in drawn_anew.KINDS
        for number in range(count)
    ]


def answered(model: torch.nn.Module, puzzles: Puzzles) -> list[Answer]:
    return solve_many(model, [asked(one) for one in puzzles])


def asked(one: OtherPuzzle) -> tuple:
    return one.x, one.y, one.new, one.choices


def without_answer(one: OtherPuzzle) -> OtherPuzzle:
    rest = [choice for place, choice in enumerate(one.choices) if place != one.answer]
    return replace(one, choices=rest)


def with_round_hint(one: OtherPuzzle, number: int) -> OtherPuzzle:
    """A hint that fits every rotation; the choices are x' under four of them."""
    side, finer = one.new.width, 8  # drawn larger and averaged, or its jagged edge shows the rule
    paper = paper_of(one)
    ink = 0 if paper > 127 else 255
    large = Image.new("L", (finer * side, finer * side), paper)
    pen = ImageDraw.Draw(large)
    middle = (finer * side - 1) / 2
    for reach, inside in ((12 + number % 12, ink), (8 + number % 12, paper), (3, ink)):
        radius = finer * reach * side / other_renderers.SIDE
        pen.ellipse(
            [middle - radius, middle - radius, middle + radius, middle + radius], fill=inside
        )
    image = large.resize((side, side), Image.Resampling.BOX)
    options = {"resample": Image.Resampling.BICUBIC, "fillcolor": paper}
    turned = [one.new.rotate(90 * turns + 45, **options) for turns in range(4)]
    return replace(one, x=image, y=image.rotate(45, **options), choices=turned, answer=0)


def paper_of(one: OtherPuzzle) -> int:
    """The shade of all four corners, or white if they differ, as those of a photograph do."""
    width, height = one.new.size
    corners = {one.new.getpixel((x, y)) for x in (0, width - 1) for y in (0, height - 1)}
    return corners.pop() if len(corners) == 1 else 255


def difference_of_answer(answer: Answer) -> float:
    return min(answer.evidence.choice_differences, default=0.5)


def calibration(name: str, answers: Sequence[Answer], puzzles: Puzzles) -> tuple[str, ...]:
    right = torch.tensor([a.index == p.answer for a, p in zip(answers, puzzles, strict=True)])
    sure = torch.tensor([answer.probability for answer in answers])
    error = calibration_error(sure, right)
    return (
        name,
        str(len(right)),
        f"{right.float().mean():.1%}",
        f"{sure.mean():.1%}",
        f"{error:.1%}",
    )


def area(score: Score, odd: Sequence[Answer], sound: Sequence[Answer]) -> str:
    high, low = (torch.tensor([score(one) for one in some]) for some in (odd, sound))
    found = auroc(high, low)
    ends = auroc_interval(found, len(high), len(low))
    return f"{found:.3f} ({ends[0]:.3f} – {ends[1]:.3f})"


def doubted(answers: Sequence[Answer]) -> str:
    return f"{np.mean([bool(answer.doubts) for answer in answers]):.1%}"


if __name__ == "__main__":
    main()
