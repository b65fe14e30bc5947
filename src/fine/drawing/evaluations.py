"""Puzzles that a model solved and missed, as one image."""

from pathlib import Path

from fine.drawing.sheet import draw_sheet
from fine.drawing.variants import draw_variants
from fine.drawing.views import solved_and_missed
from fine.evaluation import Evaluation
from fine.puzzles.variants import VariantPuzzles


def draw_evaluation(
    evaluation: Evaluation, path: Path, *, solved: int = 6, missed: int = 6
) -> None:
    """Draw some puzzles that were solved and some that were missed, as PNG or SVG.

    Args:
        evaluation: What a model answered.
        path: The file, PNG or SVG by its suffix.
        solved: How many solved puzzles to draw.
        missed: How many missed ones.

    Examples:
        >>> import fine
        >>> from pathlib import Path
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=50)
        >>> evaluation = fine.evaluate(fine.load("all-glyphs"), task.test_puzzles())
        >>> fine.draw_evaluation(evaluation, Path("answers.png"), solved=1, missed=1)
    """
    puzzles, chosen = evaluation.puzzles, evaluation.chosen
    numbers = solved_and_missed(puzzles, chosen, solved=solved, missed=missed)
    if isinstance(puzzles, VariantPuzzles):
        rows = [number for group in numbers.values() for number in group]
        draw_variants(puzzles, rows, path, answers=True, chosen=chosen)
        return
    probabilities = evaluation.probabilities
    draw_sheet(puzzles, numbers, path, answers=True, chosen=chosen, probabilities=probabilities)
