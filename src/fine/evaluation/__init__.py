"""How good a model is: accuracy with intervals, calibration, and out-of-distribution scores.

    evaluation = evaluate(model, task.test_puzzles())
    print(evaluation.accuracy, evaluation.interval, evaluation.mistakes)

metrics.py measures accuracy, calibration.py fits temperatures and rejection thresholds, ood.py
scores puzzles that are unlike those of training.
"""

from fine.evaluation.metrics import Evaluation, by_family, evaluate, wilson

__all__ = ["Evaluation", "by_family", "evaluate", "wilson"]
