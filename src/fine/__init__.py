"""FINE, the Functional Indirection Neural Estimator: show one example pair, get the function that made it.

from pathlib import Path
import fine

task = fine.Task.preset("glyphs", rules="rotation")
evaluation = fine.train(fine.RunConfig(task=task), Path("runs/rotation"))
model = fine.Run(Path("runs/rotation")).load()
"""

__version__ = "0.1.0"

from fine.drawing import draw_sheet, show
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.functions import Function
from fine.images import Images, load_images
from fine.models import make_model, register_model
from fine.models.fine import FINE, FINEConfig
from fine.pretrained import load
from fine.protocols import PROTOCOLS, Training
from fine.puzzles import Puzzles, draw_puzzles
from fine.questions import Question
from fine.rules import register_family, rule_set
from fine.runs import Run, RunConfig
from fine.solving import Answer, Drawn, NamedRule, draw_answer, explain, read_picture, solve, solve_many, solve_text
from fine.tasks import Task
from fine.training import resume, train

__all__ = [
    "FINE",
    "PROTOCOLS",
    "Answer",
    "Drawn",
    "Evaluation",
    "FINEConfig",
    "FineError",
    "Function",
    "Images",
    "NamedRule",
    "Puzzles",
    "Question",
    "Run",
    "RunConfig",
    "Task",
    "Training",
    "draw_answer",
    "draw_puzzles",
    "draw_sheet",
    "evaluate",
    "explain",
    "load",
    "load_images",
    "make_model",
    "read_picture",
    "register_family",
    "register_model",
    "resume",
    "rule_set",
    "show",
    "solve",
    "solve_many",
    "solve_text",
    "train",
]
