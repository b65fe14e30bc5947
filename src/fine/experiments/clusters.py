"""Cells on a Ray cluster, behind the same three methods as local processes: `fine reproduce table1 --cluster ray`.

Ray is found by its own rules: RAY_ADDRESS, else a cluster this machine belongs to, else a new one on this machine alone. Every
machine needs fine and the pictures. The work folder is best on a file system they share: a cell whose machine is lost then goes
on from its last epoch on another, and starts again otherwise. The ledger stays with the command.
"""

import json
import time
from collections import deque
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.executors import Event, Failed, Step, read_message
from fine.experiments.work import as_text, attempt

RETRIES = 3
"""How often a cell whose worker was lost is run again."""


class Mailbox:
    """What cells say while they run; lives on the cluster."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []

    def put(self, key: str, message: str) -> None:
        self.letters.append((key, message))

    def take(self) -> list[tuple[str, str]]:
        taken, self.letters = self.letters, []
        return taken


def task(key: str, text: str, mailbox: Any) -> str:
    """One cell, on whatever machine Ray chooses."""
    told = 0.0

    def tell(message: dict[str, Any]) -> None:
        nonlocal told
        if time.monotonic() - told > 1:
            told = time.monotonic()
            mailbox.put.remote(key, json.dumps(message))

    return json.dumps(attempt(text, tell))


class RayTasks:
    """A Ray task a cell, with one CPU. Ray runs it again if its worker is lost; it has one result, however often it was run."""

    def __init__(self, folder: Path, *, jobs: int = 0, device: str = "cpu"):
        try:
            import ray
        except ImportError:
            raise FineError("--cluster ray needs Ray: pip install 'functional-indirection[ray]'") from None
        self.ray, self.folder, self.device = ray, folder.absolute(), device
        if not ray.is_initialized():
            try:
                ray.init(log_to_driver=False, include_dashboard=False)
            except (OSError, RuntimeError, ValueError) as problem:
                why = " ".join(str(problem).split())[:200]
                raise FineError(
                    f"no Ray cluster could be joined ({why}): check RAY_ADDRESS, and the token it may ask for"
                ) from problem
        self.jobs = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.mailbox = ray.remote(num_cpus=0, max_restarts=-1)(Mailbox).remote()
        self.run = ray.remote(num_cpus=1, max_retries=RETRIES)(task)
        self.keys: dict[Any, str] = {}
        self.steps: deque[Step] = deque()
        self.asked = 0.0

    def start(self, cell: Cell) -> None:
        self.keys[self.run.remote(cell.key, as_text(cell, self.folder / cell.key, self.device), self.mailbox)] = cell.key

    def next(self, *, timeout: float) -> Event | None:
        self._collect()
        if self.steps:
            return self.steps.popleft()
        ended, _ = self.ray.wait(list(self.keys), timeout=timeout) if self.keys else ([], [])
        if not ended:
            return None
        key = self.keys.pop(ended[0])
        try:
            return read_message(key, self.ray.get(ended[0]))
        except self.ray.exceptions.RayTaskError as problem:
            return Failed(key, f"{problem.cause}")
        except self.ray.exceptions.RayError as problem:
            return Failed(key, f"its worker was lost {RETRIES + 1} times ({type(problem).__name__})")

    def stop(self) -> None:
        for reference in self.keys:
            self.ray.cancel(reference, force=True)
        self.keys.clear()
        self.ray.shutdown()  # leaves a cluster that was there before alone

    def _collect(self) -> None:
        """Fetch what cells have said, once a second; if it cannot be had, the cells go on all the same."""
        if time.monotonic() - self.asked < 1:
            return
        self.asked = time.monotonic()
        try:
            letters = self.ray.get(self.mailbox.take.remote(), timeout=1)
        except self.ray.exceptions.RayError:
            return
        events = (read_message(key, message) for key, message in letters)
        self.steps.extend(event for event in events if isinstance(event, Step))
