"""How many puzzles that Pillow drew are solved, however the drawings come: python benchmarks/drawings.py [MODEL]

200 puzzles of random shapes over rotation, translation, reflection, scale and swap, the ones of tests/test_solving.py.
"""

import sys
from pathlib import Path

from fine import load, solve_many
from timing import show

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from pillow_puzzles import FAMILIES, MATERIALS, puzzle


def main() -> None:
    model = load(sys.argv[1] if len(sys.argv) > 1 else "all-glyphs")
    made = [puzzle(number) for number in range(200)]
    rows = []
    for name, change in MATERIALS.items():
        puzzles = [[change(picture) for picture in pictures] for pictures, _ in made]
        answers = solve_many(model, [(x, y, new, choices) for x, y, new, *choices in puzzles])
        right = [answer.index == place for answer, (_, place) in zip(answers, made, strict=True)]
        by_family = (right[number :: len(FAMILIES)] for number in range(len(FAMILIES)))
        rows.append((name, *(f"{sum(part) / len(part):.1%}" for part in (right, *by_family))))
    show("Drawings by Pillow", ("drawings", "all", *FAMILIES), rows)


if __name__ == "__main__":
    main()
