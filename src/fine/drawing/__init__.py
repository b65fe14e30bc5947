"""Draws puzzles: a sheet of them as PNG or SVG, or a few of them in the terminal.

    draw_sheet(puzzles, range(6), Path("puzzles.svg"), answers=True)
    draw_evaluation(evaluate(model, puzzles), Path("answers.png"))
    show(puzzles, range(2), console=Console())

A mapping of headings to puzzle numbers is drawn as headed groups. ``chosen`` and ``probabilities``
have a row for every puzzle of the set, as an `Evaluation` has them. No mark is a colour alone: each
comes with a ✓, a ✗ or a word.

sheet.py draws plain puzzles, variants.py their variants, terminal.py both in characters,
evaluations.py what a model answered; views.py says what there is to show, figures.py writes files,
colours.py has the colours of rules.
"""

from fine.drawing.evaluations import draw_evaluation
from fine.drawing.figures import sheet_format
from fine.drawing.sheet import draw_sheet
from fine.drawing.terminal import show
from fine.drawing.views import solved_and_missed

__all__ = ["draw_evaluation", "draw_sheet", "sheet_format", "show", "solved_and_missed"]
