"""Continual learning: rules that come one after another, on top of training.

    train(ContinualConfig(task=task, strategy="anchor", …), folder)     # families in sequence
    lesson = Lesson.about("affine-omniglot", rules="swap")              # one more rule for a model

config.py is the configuration of a continual run, growth.py adds slots and freezes weights,
stage.py teaches one family, sequence.py several, lessons.py one more rule, and rehearsal.py shows
old puzzles again.
"""

from fine.continual.config import STRATEGIES, ContinualConfig
from fine.continual.lessons import Lesson
from fine.continual.sequence import Figures, figures

__all__ = ["STRATEGIES", "ContinualConfig", "Figures", "Lesson", "figures"]
