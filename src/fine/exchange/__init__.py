"""Puzzles for other programs, and their answers back.

    export_puzzles(Task.preset("glyphs", rules="rotation"), "out.npz", count=1000)
    print(evaluate_predictions("answers.csv", "out.npz").accuracy)

exporting.py writes puzzles, formats.py has the ways to write and read them, answer_key.py says what
is right, cards.py describes the export, predictions.py scores answers.
"""

from fine.exchange.exporting import export_puzzles
from fine.exchange.predictions import Predictions, evaluate_predictions

__all__ = ["Predictions", "evaluate_predictions", "export_puzzles"]
