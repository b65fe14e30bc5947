"""Where cells run. An executor starts cells and reports events; it knows no tables and no ledger.

`LocalProcesses` runs each cell in a separate process on this machine. Any other class with the
same three methods can be used.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from fine.experiments.cells import Cell
from fine.experiments.worker import as_text

WORKER = (sys.executable, "-m", "fine.experiments.worker")


@dataclass(frozen=True)
class Step:
    """A cell in training: its epoch, puzzles shown so far, and loss and accuracy of the epoch."""

    key: str
    epoch: int
    done: int
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Finished:
    """A cell that is done, with what `run_cell` returned."""

    key: str
    outcome: dict[str, Any]


@dataclass(frozen=True)
class Failed:
    """A cell that cannot be finished, and why."""

    key: str
    error: str


Event = Step | Finished | Failed


class Executor(Protocol):
    """Runs cells somewhere."""

    jobs: int
    """How many at once."""

    def start(self, cell: Cell) -> None:
        """Start a cell, and return at once."""

    def next(self, *, timeout: float) -> Event | None:
        """The next event; None if there is none within ``timeout`` seconds."""

    def stop(self) -> None:
        """End all running cells; their checkpoints stay, to resume from."""


class LocalProcesses:
    """One process for each cell, with one thread, in a folder named by the cell's key.

    Probes take seconds, most of which a new process would spend on starting. They share processes,
    one after the other.
    """

    def __init__(
        self, folder: Path, *, jobs: int, device: str = "cpu", command: tuple[str, ...] = WORKER
    ):
        self.folder, self.jobs, self.device, self.command = folder, jobs, device, command
        self.events: queue.Queue[Event] = queue.Queue()
        self.readers: dict[str, tuple[subprocess.Popen[str], threading.Thread]] = {}
        self.idle: list[subprocess.Popen[str]] = []

    def start(self, cell: Cell) -> None:
        shared = cell.probe is not None
        process = self.idle.pop() if shared and self.idle else self._process()
        text = as_text(cell, self.folder / cell.key, self.device)
        arguments = (cell.key, process, text, shared)
        reader = threading.Thread(target=self._read, args=arguments, daemon=True)
        self.readers[cell.key] = process, reader
        reader.start()

    def _process(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,  # the system closes it when we end, which ends the process too
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for us; we end the others
        )

    def next(self, *, timeout: float) -> Event | None:
        try:
            event = self.events.get(timeout=timeout)
        except queue.Empty:
            return None
        if not isinstance(event, Step):
            _, reader = self.readers.pop(event.key)
            reader.join()
        return event

    def stop(self) -> None:
        for process, _ in self.readers.values():
            process.kill()  # files are written whole or not at all: there is nothing to tidy up
        for _, reader in self.readers.values():
            reader.join()
        self.readers.clear()
        while self.idle:
            _end(self.idle.pop())

    def _read(self, key: str, process: "subprocess.Popen[str]", text: str, shared: bool) -> None:
        """Send the cell to its process and pass on its messages, until one of them ends."""
        end: Event | None = None
        last_words = ""
        assert process.stdin and process.stdout
        try:
            # The process may be gone already; what it wrote before is still to be read.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(text + "\n")
                process.stdin.flush()
            for line in process.stdout:
                event = read_message(key, line)
                if isinstance(event, Step):
                    self.events.put(event)
                    continue
                end, last_words = event or end, line.strip() or last_words
                if end is not None:
                    break
        except OSError as problem:
            last_words = str(problem)
        if shared and isinstance(end, Finished):
            self.idle.append(process)
        else:
            code = _end(process)
        if end is None:
            said = last_words or "it said nothing"
            end = Failed(key, f"its process ended with code {code}: {said}")
        self.events.put(end)


def _end(process: "subprocess.Popen[str]") -> int:
    """End a process; its exit code."""
    assert process.stdin and process.stdout
    process.kill()
    code = process.wait()
    process.stdout.close()
    with contextlib.suppress(OSError):  # it may have been gone before it read its cell
        process.stdin.close()
    return code


def read_message(key: str, line: str) -> Event | None:
    """A line from a cell's process; None if it is not a message but something printed."""
    try:
        message = json.loads(line)
        if "error" in message:
            return Failed(key, message["error"])
        return Finished(key, message) if "result" in message else Step(key, **message)
    except (ValueError, TypeError):
        return None
