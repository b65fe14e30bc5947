"""How many puzzles drawn by Pillow a network solves: python benchmarks/drawings.py [MODEL]

200 puzzles of random shapes over rotation, translation, reflection, scale and swap, drawn by
tests/support/pillow_puzzles.py, which the tests of `solve` use too.
"""

import runpy
import sys
from pathlib import Path

from fine import load, solve_many
from timing import show

DRAWN = runpy.run_path(str(Path(__file__).parents[1] / "tests/support/pillow_puzzles.py"))
FAMILIES, MATERIALS, puzzle = DRAWN["FAMILIES"], DRAWN["MATERIALS"], DRAWN["puzzle"]


def main() -> None:
    model = load(sys.argv[1] if len(sys.argv) > 1 else "all-glyphs")
    made = [puzzle(number) for number in range(200)]
    rows = []
    for name, change in MATERIALS.items():
        puzzles = [[change(image) for image in images] for images, _ in made]
        asked = [(x, y, new, choices) for x, y, new, *choices in puzzles]
        answers = zip(solve_many(model, asked, verify=False), made, strict=True)
        right = [answer.index == place for answer, (_, place) in answers]
        by_family = (right[number :: len(FAMILIES)] for number in range(len(FAMILIES)))
        shares = (f"{sum(part) / len(part):.1%}" for part in (right, *by_family))
        rows.append((name, *shares))
    show("Drawings by Pillow", ("drawings", "all", *FAMILIES), rows)


if __name__ == "__main__":
    main()
