"""Trained models at work on your own images: files, drawings, photographs.

    model = fine.load("all-glyphs")
    puzzle = PuzzleImages.read("x.png", "y.png", "new.png", ["a.png", "b.png"])   # each file once
    solve(model, *puzzle)                          # which choice, and how sure the model is
    explain(model, puzzle.x, puzzle.y)             # the rules that may have made y from x, by name
    draw_answer(model, puzzle.x, puzzle.y, puzzle.new).image.save("answer.png")    # no choices

All of them take files, bytes, Pillow images, arrays and tensors as well. The command line, the web
page and Python programs go through these functions.

reading.py reads images, ground.py finds their background, puzzle_images.py brings them to what a
model sees, views.py compares them, rule_candidates.py and verification.py try rules on the pixels,
solving.py asks the network as well, answers.py decides between both, doubts.py says when not to
answer. functions.py finds functions as objects: composed_functions.py has those of a model,
rule_functions.py those known by their rule, which registration/ finds. naming.py names them,
drawn.py draws answers, strings.py solves letter strings.
"""

from fine.inference.answers import Answer
from fine.inference.composed_functions import Function
from fine.inference.drawn import Drawn, draw_answer
from fine.inference.functions import explain, function, residual
from fine.inference.naming import NamedRule
from fine.inference.puzzle_images import Hints, PuzzleImages
from fine.inference.reading import Source, read_image
from fine.inference.registration import Registered, register
from fine.inference.rule_functions import RuleFunction, load_function
from fine.inference.solving import solve, solve_many
from fine.inference.strings import RankedRule, TextAnswer, solve_text

__all__ = [
    "Answer",
    "Drawn",
    "Function",
    "Hints",
    "NamedRule",
    "PuzzleImages",
    "RankedRule",
    "Registered",
    "RuleFunction",
    "Source",
    "TextAnswer",
    "draw_answer",
    "explain",
    "function",
    "load_function",
    "read_image",
    "register",
    "residual",
    "solve",
    "solve_many",
    "solve_text",
]
