"""Puzzles for people: a sheet of them as PNG or SVG, or a few of them in the terminal.

    draw_sheet(puzzles, range(6), Path("puzzles.svg"), answers=True)
    groups = solved_and_missed(puzzles, result.chosen, solved=3, missed=3)       # {"solved": [...], "missed": [...]}
    draw_sheet(puzzles, groups, Path("answers.png"), chosen=result.chosen, probabilities=result.probabilities)
    show(puzzles, range(2), console=Console())

A mapping of headings to puzzle numbers is drawn as headed groups. ``chosen`` and ``probabilities`` have a row for every
puzzle of the set, as an Evaluation has them. No mark is a colour alone: each comes with a ✓, a ✗ or a word.
"""

from fine.drawing.sheet import draw_sheet
from fine.drawing.terminal import show
from fine.drawing.views import solved_and_missed

__all__ = ["draw_sheet", "show", "solved_and_missed"]
