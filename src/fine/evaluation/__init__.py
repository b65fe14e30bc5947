"""How good a model is: accuracy with intervals, calibration, and out-of-distribution scores.

    evaluation = evaluate(model, task.test_puzzles())
    print(evaluation.accuracy, evaluation.interval, evaluation.mistakes)

metrics.py measures accuracy, paired.py compares two models on the same puzzles, calibration.py fits
temperatures and rejection thresholds, ood.py scores puzzles that are unlike those of training.
"""

from fine.evaluation.metrics import Evaluation, by_family, evaluate, wilson
from fine.evaluation.paired import PairedTest, paired_test

__all__ = ["Evaluation", "PairedTest", "by_family", "evaluate", "paired_test", "wilson"]
