"""Trained models at work on pictures as people have them: files, drawings, photographs.

    model = fine.load("all-glyphs")
    answer = solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png", "c.png", "d.png"])
    explain(model, "x.png", "y.png")               # the rules that may have made y from x, by name
    draw_answer(model, "x.png", "y.png", "new.png").image.save("answer.png")       # without any choices

The command line, the web page and Python programs all go through these functions.
"""

from fine.solving.answers import Answer, solve, solve_many
from fine.solving.drawn import Drawn, draw_answer
from fine.solving.naming import NamedRule, explain
from fine.solving.pictures import Source, read_picture
from fine.solving.texts import RankedRule, TextAnswer, solve_text

__all__ = [
    "Answer",
    "Drawn",
    "NamedRule",
    "RankedRule",
    "Source",
    "TextAnswer",
    "draw_answer",
    "explain",
    "read_picture",
    "solve",
    "solve_many",
    "solve_text",
]
