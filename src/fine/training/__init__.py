"""Training: run folders, protocols, the loop, and checkpoints to resume from.

    config = RunConfig(task=Task.preset("glyphs", rules="rotation"))
    evaluation = train(config, Path("runs/rotation"))

api.py starts and resumes runs. run.py is the run folder, trainer.py the loop, feed.py the puzzles
of an epoch, checkpoint.py what a run resumes from, protocols.py the named ways to train.
"""

from fine.training.api import FolderLock, resume, resume_locked, start_locked, train
from fine.training.progress import Progress, ProgressBar, Silent
from fine.training.protocols import PROTOCOLS, Training
from fine.training.run import Run, RunConfig, RunKind, register_run_kind
from fine.training.trainer import Trainer, learn

__all__ = [
    "PROTOCOLS",
    "FolderLock",
    "Progress",
    "ProgressBar",
    "Run",
    "RunConfig",
    "RunKind",
    "Silent",
    "Trainer",
    "Training",
    "learn",
    "register_run_kind",
    "resume",
    "resume_locked",
    "start_locked",
    "train",
]
