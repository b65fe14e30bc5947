"""Cells as jobs of a SLURM cluster, through submitit: `--cluster slurm`.

A job has one cell, one CPU and one thread (and one GPU, if the device is not the CPU). The work
folder must be on a file system that all machines share: there lie run folders, the messages of
running cells, and the logs of submitit. sbatch reads its own settings from the environment, such as
SBATCH_PARTITION, SBATCH_ACCOUNT and SBATCH_TIMELIMIT. A job that is preempted or out of time is
submitted again and goes on from its last epoch. The ledger stays with the command.
"""

import contextlib
import json
import shutil
import time
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.executors import Event, Failed, Finished, Step, read_message
from fine.experiments.worker import as_text, attempt
from fine.io.files import write_text
from fine.io.untrusted import read_text

JOBS = 100
"""How many cells are submitted at once, unless another number is given."""
MINUTES = 24 * 60
"""How long a job may take, unless SBATCH_TIMELIMIT says otherwise."""
_POLL = 0.5  # seconds between two looks at the jobs
_LARGEST_MESSAGE = 100_000  # bytes
_SHOWN_EVERY = 1.0  # seconds between two messages of a running cell


class CellJob:
    """One cell, on the machine that the cluster chooses."""

    def __call__(self, text: str, messages: str) -> str:
        sent = 0.0

        def send(message: dict[str, Any]) -> None:
            nonlocal sent
            if time.monotonic() - sent > _SHOWN_EVERY:
                sent = time.monotonic()
                write_text(Path(messages), json.dumps(message))

        return json.dumps(attempt(text, send))

    def checkpoint(self, text: str, messages: str) -> Any:
        """What is submitted instead of a job that is preempted: the same cell, which resumes."""
        from submitit.helpers import DelayedSubmission  # noqa: PLC0415  # an extra

        return DelayedSubmission(self, text, messages)


class SlurmJobs:
    """One job for each cell; ``cluster`` is slurm, or local for processes of this machine."""

    def __init__(self, folder: Path, *, jobs: int = 0, device: str = "cpu", cluster: str = "slurm"):
        try:
            import submitit  # noqa: PLC0415  # an extra
        except ImportError:
            raise FineError(
                "--cluster slurm needs submitit: pip install 'functional-indirection[slurm]'"
            ) from None
        if cluster == "slurm" and shutil.which("sbatch") is None:
            raise FineError(
                "--cluster slurm needs the command sbatch: run it on a machine of the cluster from "
                "which jobs are submitted"
            )
        self.folder, self.device, self.jobs = folder.absolute(), device, jobs or JOBS
        self.executor = submitit.AutoExecutor(folder=self.folder / "jobs" / "%j", cluster=cluster)
        self.executor.update_parameters(
            name="fine", timeout_min=MINUTES, cpus_per_task=1, gpus_per_node=int(device != "cpu")
        )
        self.running: dict[str, Any] = {}
        self.seen: dict[str, str] = {}
        """Cell -> its last message that was passed on."""

    def start(self, cell: Cell) -> None:
        text = as_text(cell, self.folder / cell.key, self.device)
        job = self.executor.submit(CellJob(), text, str(self._messages(cell.key)))
        self.running[cell.key] = job

    def next(self, *, timeout: float) -> Event | None:
        until = time.monotonic() + timeout
        while True:
            for key in self.running:
                if (event := self._event(key)) is not None:
                    return event
            if time.monotonic() >= until:
                return None
            time.sleep(min(_POLL, max(0.0, until - time.monotonic())))

    def stop(self) -> None:
        for job in self.running.values():
            job.cancel(check=False)
        for key in [*self.running]:
            self._forget(key)

    def _event(self, key: str) -> Event | None:
        """The next event of a cell: its end, or its progress."""
        job = self.running[key]
        if job.done():
            event = _end(key, job)
            self._forget(key)
            return event
        with contextlib.suppress(OSError, ValueError):  # it has not begun
            path = self._messages(key)
            text = read_text(path, largest=_LARGEST_MESSAGE, expected="a message")
            if text != self.seen.get(key):
                self.seen[key] = text
                message = read_message(key, text)
                return message if isinstance(message, Step) else None
        return None

    def _forget(self, key: str) -> None:
        del self.running[key]
        self.seen.pop(key, None)
        self._messages(key).unlink(missing_ok=True)

    def _messages(self, key: str) -> Path:
        return self.folder / "messages" / f"{key}.json"


def _end(key: str, job: Any) -> Finished | Failed:
    """How a job has ended."""
    problem = job.exception()
    if problem is not None:
        lines = str(problem).strip().splitlines()
        return Failed(key, f"job {job.job_id} failed ({lines[-1] if lines else 'it said nothing'})")
    event = read_message(key, job.result())
    if isinstance(event, Finished | Failed):
        return event
    return Failed(key, f"job {job.job_id} ended without a result")
