"""What it costs that after z comes a: letters never seen, by whether the example or the answer goes past z.

Run: python benchmarks/string_wraps.py
"""

import numpy as np

import fine
from fine.strings.alphabet import UNSEEN

FORWARDS = {"successor", "caesar +2", "caesar +3", "first +1", "last +1"}


def main() -> None:
    """Rules that go forwards, over strings of the letters u to z."""
    puzzles = fine.Task.preset("strings-letters", rules="all").test_puzzles()
    right = fine.evaluate(fine.load("all-strings"), puzzles).kinds == 0
    forwards = np.array([str(puzzles.rules.rules[rule]) in FORWARDS for rule in puzzles.hidden])
    texts = puzzles.texts(range(len(puzzles)))
    example = np.array([not set(shown[1]) <= set(UNSEEN) for shown in texts])
    answer = np.array([not set(shown[3 + place]) <= set(UNSEEN) for shown, place in zip(texts, puzzles.answers, strict=True)])
    print("example past z | answer past z | puzzles | right")
    for first in (False, True):
        for second in (False, True):
            some = forwards & (example == first) & (answer == second)
            print(f"{'yes' if first else 'no'} | {'yes' if second else 'no'} | {some.sum()} | {right[some].mean():.1%}")


if __name__ == "__main__":
    main()
