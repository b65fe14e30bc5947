"""Train a model in a folder of its own, or resume a run that was stopped.

config = RunConfig(task=Task.preset("omniglot", rules="rotation"))
evaluation = train(config, Path("runs/rotation"))
evaluation = resume(Path("runs/rotation"))      # if it was stopped: ends in the same weights
"""

import contextlib
import os
from pathlib import Path

import torch

from fine.errors import FineError
from fine.evaluation import Evaluation
from fine.io.locks import locked
from fine.training.progress import Progress, Silent
from fine.training.run import RUN_KINDS, Run, RunConfig, kind_of

FolderLock = contextlib.AbstractContextManager[None]


def train(
    config: RunConfig, folder: Path, *, device: str = "cpu", progress: Progress | None = None
) -> Evaluation:
    """Train a model, test it, and keep everything in ``folder``, which must not hold a run yet."""
    return start_locked(config, folder, _lock(folder), device=device, progress=progress)


def resume(folder: Path, *, device: str = "cpu", progress: Progress | None = None) -> Evaluation:
    """Train a run from its last checkpoint, if it has one, to its end, and test it."""
    Run(folder).config()  # refuses a folder without a run before a lock is made in it
    with _lock(folder):
        return resume_locked(folder, device=device, progress=progress)


def start_locked(
    config: RunConfig,
    folder: Path,
    lock: FolderLock,
    *,
    device: str = "cpu",
    progress: Progress | None = None,
    trained: Run | None = None,
) -> Evaluation:
    """Like `train`, but the caller supplies the folder lock.

    ``trained`` is a finished run that differs in its test only. Training would end in its weights,
    so they are copied.
    """
    run = Run(folder)
    config.check()
    _refuse_existing(run)
    config = config.complete()
    # This refuses an impossible model or task, before anything is written.
    trainer = RUN_KINDS[kind_of(config)].trainer(run, config, torch.device(device))
    if trained is not None:
        trainer.reuse(trained)
    with lock:
        if trainer.group.first:
            _refuse_existing(run)  # another process may have started one meanwhile
            run.save_config(config)
        return trainer.complete(progress or Silent())


def resume_locked(
    folder: Path, *, device: str = "cpu", progress: Progress | None = None
) -> Evaluation:
    """Like `resume`, for a caller that holds the folder's lock already."""
    run = Run(folder)
    config = run.config()
    if run.finished:
        raise FineError(
            f"{folder} holds a finished run: test it with `fine evaluate {folder}`, or train in "
            "another folder"
        )
    trainer = RUN_KINDS[kind_of(config)].trainer(run, config, torch.device(device))
    return trainer.complete(progress or Silent())


def _refuse_existing(run: Run) -> None:
    if run.exists:
        raise FineError(
            f"{run.folder} holds a run already: choose another folder, or continue it with "
            f"--resume {run.folder}"
        )


def _lock(folder: Path) -> FolderLock:
    """The folder's lock; under torchrun the first process has it for all."""
    other_process = int(os.environ.get("RANK", "0")) > 0
    if other_process or os.name == "nt":  # Windows has no such locks
        return contextlib.nullcontext()
    return locked(folder)
