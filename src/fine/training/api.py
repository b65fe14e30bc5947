"""Train a model in a run folder, or resume a run that was stopped.

config = RunConfig(task=Task.preset("omniglot", rules="rotation"))
evaluation = train(config, Path("runs/rotation"))
evaluation = resume(Path("runs/rotation"))      # if it was stopped: ends in the same weights
"""

import contextlib
import os
from pathlib import Path

import torch

from fine.distributed import own_rank
from fine.errors import FineError
from fine.evaluation import Evaluation
from fine.io.locks import locked
from fine.threads import using_threads
from fine.training.progress import Progress, Silent
from fine.training.run import RUN_KINDS, Run, RunConfig, kind_of

FolderLock = contextlib.AbstractContextManager[None]


def train(
    config: RunConfig, folder: Path, *, device: str = "cpu", progress: Progress | None = None
) -> Evaluation:
    """Train a model, test it, and keep everything in ``folder``, which must not hold a run yet.

    Args:
        config: Everything the run depends on: model, task, training.
        folder: The run folder, made if it is not there.
        device: Where to train: ``cpu`` or ``cuda``.
        progress: Receives the progress of training; None: nothing is shown.

    Examples:
        >>> import fine
        >>> from pathlib import Path
        >>> config = fine.RunConfig(task=fine.Task.preset("glyphs", rules="rotation"))
        >>> evaluation = fine.train(config, Path("runs/mine"))  # doctest: +SKIP
        >>> print(f"{evaluation.accuracy:.1%}")  # doctest: +SKIP
    """
    return start_locked(config, folder, lock_for_all(folder), device=device, progress=progress)


def resume(
    folder: Path, *, device: str = "cpu", threads: int = 0, progress: Progress | None = None
) -> Evaluation:
    """Train a run from its last checkpoint, if it has one, to its end, and test it.

    Args:
        folder: The folder of a run that was stopped.
        device: Where to train: ``cpu`` or ``cuda``.
        threads: CPU threads; 0: as many as it started with, so that it ends in the same weights.
        progress: Receives the progress of training; None: nothing is shown.

    Examples:
        >>> import fine
        >>> from pathlib import Path
        >>> evaluation = fine.resume(Path("runs/mine"))  # doctest: +SKIP
    """
    Run(folder).config()  # refuses a folder without a run before a lock is made in it
    with lock_for_all(folder):
        return resume_locked(folder, device=device, threads=threads, progress=progress)


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
    with using_threads(torch.get_num_threads()):
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
    folder: Path, *, device: str = "cpu", threads: int = 0, progress: Progress | None = None
) -> Evaluation:
    """Like `resume`, for a caller that holds the folder's lock already."""
    run = Run(folder)
    config = run.config()
    if run.finished:
        raise FineError(
            f"{folder} holds a finished run: test it with `fine evaluate {folder}`, or train in "
            "another folder"
        )
    with using_threads(threads or _threads_of(run)):
        trainer = RUN_KINDS[kind_of(config)].trainer(run, config, torch.device(device))
        return trainer.complete(progress or Silent())


def other_threads(run: Run, threads: int = 0) -> str:
    """A warning if a run is resumed with another number of threads than it was started with.

    Empty if the number is the same. ``threads`` is the one asked for, as in `resume`.
    """
    started, now = run.threads(), threads or _threads_of(run)
    if started in (0, now):
        return ""
    return (
        f"started with threads={started}, continued with threads={now}: the weights will differ in "
        "their last bits from those of a run that was not stopped"
    )


def _threads_of(run: Run) -> int:
    """The number of threads that a run is resumed with, unless another is given.

    That is the one it was started with, if this machine has as many cores: more threads than cores
    wait for each other.
    """
    return min(run.threads() or torch.get_num_threads(), os.cpu_count() or 1)


def _refuse_existing(run: Run) -> None:
    if run.exists:
        raise FineError(
            f"{run.folder} holds a run already: choose another folder, or continue it with "
            f"--resume {run.folder}"
        )
    if run.checkpoint.exists():  # a new run would go on from there
        raise FineError(
            f"{run.checkpoint} is the checkpoint of another run: delete it, or choose another "
            "folder"
        )


def lock_for_all(folder: Path) -> FolderLock:
    """The folder's lock; under torchrun the first process has it for all of them."""
    return contextlib.nullcontext() if own_rank() else locked(folder)
