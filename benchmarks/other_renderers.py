"""Puzzles of another make: python benchmarks/other_renderers.py [--model MODEL] [--count 200]

Letters, icons, silhouettes, coarse digits and photographs of CIFAR-100 under affine rules on and
off the paper's grids, drawn by Pillow and by SciPy (tests/support/other_renderers.py). A row has
the share answered right by the network alone and with rules checked on the pixels.
"""

import argparse
import os
import runpy
from pathlib import Path

from fine import load, solve_many
from fine.evaluation.metrics import wilson
from timing import show

OTHER = runpy.run_path(str(Path(__file__).parents[1] / "tests/support/other_renderers.py"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="universal")
    parser.add_argument("--count", type=int, default=200, help="puzzles of a kind, far or near")
    parser.add_argument("--kinds", nargs="*", default=OTHER["KINDS"])
    options = parser.parse_args()
    model = load(options.model)
    photographs = OTHER["cifar_photographs"](Path(os.environ.get("FINE_DATA", "data")))
    rows = []
    for kind in options.kinds:
        for renderer in OTHER["RENDERERS"]:
            for near in (False, True):
                made = [
                    OTHER["make_puzzle"](
                        kind, renderer, number=number, near=near, photographs=photographs
                    )
                    for number in range(options.count // 2)
                ]
                answers = solve_many(model, [(one.x, one.y, one.new, one.choices) for one in made])
                both = list(zip(answers, made, strict=True))
                alone = [answer.model_index == one.answer for answer, one in both]
                right = [answer.index == one.answer for answer, one in both]
                verified = [answer.verified for answer in answers]
                wrong = [said and not good for said, good in zip(verified, right, strict=True)]
                low, high = wilson(sum(right), len(right))
                distance = "near" if near else "far"
                counts = f"{len(right)}", f"{share(alone)}", f"{share(right)}"
                interval = f"{low:.0%} – {high:.0%}"
                rows.append(
                    (kind, renderer, distance, *counts, interval, share(verified), share(wrong))
                )
                print(*rows[-1], flush=True)
    names = (
        "kind",
        "renderer",
        "wrong rule",
        "n",
        "network",
        "verified too",
        "interval",
        "verified",
        "wrong",
    )
    show("Puzzles of another make", names, rows)


def share(values: list[bool]) -> str:
    return f"{sum(values) / len(values):.1%}"


if __name__ == "__main__":
    main()
