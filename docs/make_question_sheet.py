"""Draws docs/img/questions.png: one puzzle asked in four ways. python docs/make_question_sheet.py"""

from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from fine import Question, Task

QUESTIONS = (Question("hints", 2), Question("backwards"), Question("chain", 2), Question("hints", 2, noise=0.3))
NUMBER = 7
GREEN, INK, LINE = "#1a7f37", "#1f2328", "#d1d9e0"
WIDE = 4 + 1 + 4 + 1  # four pictures of hints, what is asked, the choices, and some room between them


def main() -> None:
    task = replace(Task.preset("omniglot", rules="affine"), test_count=NUMBER + 1)
    figure = Figure(figsize=(WIDE * 0.95, len(QUESTIONS) * 1.25), facecolor="white")
    for row, question in enumerate(QUESTIONS):
        batch = task.test_puzzles(question).render([NUMBER])
        *shown, asked, a, b, c, d = batch.pictures[0, :, 0]
        places = [(place, picture, "") for place, picture in enumerate(shown)]
        places.append((4.4, asked, "y′ was …" if question.name == "backwards" else "x′ becomes …"))
        places += [(5.8 + place, choice, "ABCD"[place]) for place, choice in enumerate((a, b, c, d))]
        for place, picture, label in places:
            axes = figure.add_axes((0.01 + place / WIDE, 1 - (row + 0.87) / len(QUESTIONS), 0.9 / WIDE, 0.66 / len(QUESTIONS)))
            axes.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="none")
            axes.set(xticks=[], yticks=[])
            right = label == "ABCD"[int(batch.answers[0])]
            axes.set_xlabel(
                label, size=9, labelpad=2, color=GREEN if right else "#1f2328", weight="bold" if right else "normal"
            )
            for side in axes.spines.values():
                side.set(color=GREEN if right else "#d1d9e0", linewidth=2.5 if right else 1)
        figure.text(0.01, 1 - (row + 0.13) / len(QUESTIONS), str(question).partition(", by")[0], size=10, weight="bold")
    figure.savefig(Path(__file__).parent / "img" / "questions.png", dpi=110)


if __name__ == "__main__":
    main()
