"""Cells on a Ray cluster, with the same three methods as local processes: `--cluster ray`.

Ray is found by its own rules: RAY_ADDRESS, else a cluster this machine belongs to, else a new one
on this machine alone. Every machine needs fine and the images. The work folder is best on a shared
file system: a cell whose machine is lost then resumes from its last epoch on another machine, and
otherwise starts again. The ledger stays with the command.
"""

import json
import time
from collections import deque
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.executors import Event, Failed, Step, read_message
from fine.experiments.worker import as_text, attempt

RETRIES = 3
"""How often a cell whose worker was lost is run again."""


class Mailbox:
    """Messages of running cells; lives on the cluster."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str]] = []

    def put(self, key: str, message: str) -> None:
        self.messages.append((key, message))

    def take(self) -> list[tuple[str, str]]:
        taken, self.messages = self.messages, []
        return taken


def task(key: str, text: str, mailbox: Any) -> str:
    """One cell, on the machine that Ray chooses."""
    sent = 0.0

    def send(message: dict[str, Any]) -> None:
        nonlocal sent
        if time.monotonic() - sent > 1:
            sent = time.monotonic()
            mailbox.put.remote(key, json.dumps(message))

    return json.dumps(attempt(text, send))


class RayTasks:
    """One Ray task with one CPU for each cell.

    Ray runs a task again if its worker is lost; the cell has one result, however often it was run.
    """

    def __init__(self, folder: Path, *, jobs: int = 0, device: str = "cpu"):
        try:
            import ray  # noqa: PLC0415  # heavy, and few need it
        except ImportError:
            raise FineError(
                "--cluster ray needs Ray: pip install 'functional-indirection[ray]'"
            ) from None
        self.ray, self.folder, self.device = ray, folder.absolute(), device
        if not ray.is_initialized():
            try:
                ray.init(log_to_driver=False, include_dashboard=False)
            except (OSError, RuntimeError, ValueError) as problem:
                why = " ".join(str(problem).split())[:200]
                raise FineError(
                    f"no Ray cluster could be joined ({why}): check RAY_ADDRESS, and the token it "
                    "may ask for"
                ) from problem
        self.jobs = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.mailbox = ray.remote(num_cpus=0, max_restarts=-1)(Mailbox).remote()
        self.run = ray.remote(num_cpus=1, max_retries=RETRIES)(task)
        self.keys: dict[Any, str] = {}
        self.steps: deque[Step] = deque()
        self.collected = 0.0

    def start(self, cell: Cell) -> None:
        text = as_text(cell, self.folder / cell.key, self.device)
        self.keys[self.run.remote(cell.key, text, self.mailbox)] = cell.key

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
            lost = f"its worker was lost {RETRIES + 1} times"
            return Failed(key, f"{lost} ({type(problem).__name__})")

    def stop(self) -> None:
        for reference in self.keys:
            self.ray.cancel(reference, force=True)
        self.keys.clear()
        self.ray.shutdown()  # leaves a cluster that was there before alone

    def _collect(self) -> None:
        """Fetch messages once a second; without them the cells run all the same."""
        if time.monotonic() - self.collected < 1:
            return
        self.collected = time.monotonic()
        try:
            messages = self.ray.get(self.mailbox.take.remote(), timeout=1)
        except self.ray.exceptions.RayError:
            return
        events = (read_message(key, message) for key, message in messages)
        self.steps.extend(event for event in events if isinstance(event, Step))
