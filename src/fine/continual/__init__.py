"""Rules that come one after another: a sequence of families (stages), or one more rule for a model that one has (lessons).

from fine.continual.stages import figures
from fine.continual.lessons import Lesson
"""
