"""What it costs that a comes after z, for unseen letters: python benchmarks/string_wraps.py

Accuracy by whether the example or the answer goes past z.
"""

import numpy as np

import fine
from fine.images.letters import UNSEEN
from timing import show

FORWARDS = {"successor", "caesar +2", "caesar +3", "first +1", "last +1"}
"""Rules that go forwards in the alphabet."""


def main() -> None:
    puzzles = fine.Task.preset("strings-letters", rules="all").test_puzzles()
    right = fine.evaluate(fine.load("all-strings"), puzzles).kinds == 0
    names = [str(puzzles.rules.rules[rule]) for rule in puzzles.hidden]
    forwards = np.array([name in FORWARDS for name in names])
    texts = puzzles.texts(range(len(puzzles)))
    answers = [shown[3 + place] for shown, place in zip(texts, puzzles.answers, strict=True)]
    example = np.array([not set(shown[1]) <= set(UNSEEN) for shown in texts])
    answer = np.array([not set(text) <= set(UNSEEN) for text in answers])
    rows = []
    for first in (False, True):
        for second in (False, True):
            some = forwards & (example == first) & (answer == second)
            wraps = ("yes" if first else "no", "yes" if second else "no")
            rows.append((*wraps, f"{some.sum()}", f"{right[some].mean():.1%}"))
    columns = ("example past z", "answer past z", "puzzles", "right")
    show("Letters never seen, rules that go forwards", columns, rows)


if __name__ == "__main__":
    main()
