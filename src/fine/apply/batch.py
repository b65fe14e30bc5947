"""Many image files under one map: on all cores, each file whole or not at all.

    summary = apply_to_files(point_map, [Path("photos")], Path("done"), Settings())
    summary.done, summary.skipped, summary.failures

A fault in one file stops no other. What is stopped, by Ctrl-C or by the system, goes on when it is
called again: results that are there are not drawn a second time. Files are drawn in threads, for
Pillow lets others run while it decodes, transforms and encodes; no more of them are in memory than
there are threads.
"""

import contextlib
import errno
import os
import queue
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fine.apply.listing import Listing, list_files
from fine.apply.photo import apply_to_file
from fine.apply.record import Record
from fine.apply.settings import Settings
from fine.errors import FineError
from fine.geometry.point_map import PointMap
from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE
from fine.io.files import remove_leftovers_of
from fine.io.locks import locked
from fine.threads import using_threads

Progress = Callable[[int, int, Path], None]
"""Called with how many files are done, how many there are to do, and the last one."""

_Outcome = tuple[str, ...] | Exception
"""Notes about a file, or why it has no result."""


@dataclass(frozen=True)
class Failure:
    """A file that has no result, and why."""

    file: Path
    error: str


@dataclass
class Summary:
    """What became of the files."""

    done: int = 0
    """Results that were written."""
    skipped: int = 0
    """Results that were there already."""
    left: int = 0
    """Files that were not tried, because it was stopped."""
    failures: list[Failure] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    """What could not be kept -> of how many files."""
    others: Counter[str] = field(default_factory=Counter)
    """Ends of names -> how many files were left alone, for they are no images."""
    seconds: float = 0.0
    stopped: bool = False
    """Whether Ctrl-C was pressed."""


def apply_to_files(
    point_map: PointMap,
    inputs: Sequence[Path],
    out: Path,
    settings: Settings,
    *,
    name: str = "a map",
    overwrite: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Draw the results of files and folders of files into a folder.

    ``name`` is what the rule is called in the record of the folder. ``jobs`` files are drawn at a
    time, by default as many as there are cores.
    """
    if jobs is not None and jobs < 1:
        raise FineError(f"{jobs} jobs are none: give 1 or more")
    listing = list_files(inputs, out)
    started = time.monotonic()
    with locked(out):
        record = Record(out, point_map, settings, name)
        record.begin(overwrite=overwrite)
        todo = _todo(listing, overwrite=overwrite)
        summary = Summary(skipped=len(listing.targets) - len(todo), others=listing.others)
        with _folders(todo):
            _Batch(point_map, settings, todo, summary, progress).run(jobs or cores())
        summary.failures.sort(key=lambda failure: failure.file)
        summary.left = len(todo) - summary.done - len(summary.failures)
        if not summary.left:
            record.end()
    summary.seconds = time.monotonic() - started
    return summary


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _todo(listing: Listing, *, overwrite: bool) -> dict[Path, Path]:
    """What has no result yet; what a killed process was writing is deleted."""
    for target in listing.targets.values():
        remove_leftovers_of(target)
    return {
        source: target
        for source, target in listing.targets.items()
        if overwrite or not target.exists()
    }


@contextlib.contextmanager
def _folders(todo: dict[Path, Path]) -> Iterator[None]:
    """The folders that results go to; those that stay empty are removed."""
    made: list[Path] = []
    for folder in sorted({target.parent for target in todo.values()}):
        made += [place for place in reversed((folder, *folder.parents)) if not place.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise FineError(f"{folder} cannot be made ({problem.strerror})") from problem
    try:
        yield
    finally:
        for folder in reversed(made):
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()


class _Batch:
    """Threads that take one file after another."""

    def __init__(
        self,
        point_map: PointMap,
        settings: Settings,
        todo: dict[Path, Path],
        summary: Summary,
        progress: Progress | None,
    ):
        self._point_map, self._settings, self._progress = point_map, settings, progress
        self._total, self._summary = len(todo), summary
        self._waiting = iter(todo.items())
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._results: queue.SimpleQueue[tuple[Path, _Outcome] | None] = queue.SimpleQueue()

    def run(self, jobs: int) -> None:
        threads = [
            threading.Thread(target=self._work) for _ in range(max(1, min(jobs, self._total)))
        ]
        with _undisturbed():
            for thread in threads:
                thread.start()
            try:
                self._listen(len(threads))
            except BaseException as problem:
                self._stop.set()
                self._progress = None
                for thread in threads:
                    thread.join()  # each ends with the file it is at
                self._drain()
                if not isinstance(problem, KeyboardInterrupt):
                    raise
                self._summary.stopped = True

    def _listen(self, running: int) -> None:
        """Count results until so many threads have ended."""
        while running:
            result = self._results.get()
            if result is None:
                running -= 1
            else:
                self._count(*result)

    def _drain(self) -> None:
        """Count what threads that have ended left behind."""
        while not self._results.empty():
            if (result := self._results.get()) is not None:
                self._count(*result)

    def _count(self, source: Path, outcome: _Outcome) -> None:
        if isinstance(outcome, Exception):
            self._summary.failures.append(Failure(source, _in_words(source, outcome)))
        else:
            self._summary.done += 1
            self._summary.notes.update(outcome)
        if self._progress is not None:
            finished = self._summary.done + len(self._summary.failures)
            self._progress(finished, self._total, source)

    def _work(self) -> None:
        with Decoder(FULL_SIZE) as decoder:
            while not self._stop.is_set():
                with self._lock:
                    source, target = next(self._waiting, (None, None))
                if source is None or target is None:
                    break
                try:
                    outcome: _Outcome = apply_to_file(
                        source, target, self._point_map, self._settings, decoder
                    )
                except Exception as problem:
                    outcome = problem
                    if _is_of_a_full_disk(problem):
                        self._stop.set()  # all others would fail too
                self._results.put((source, outcome))
        self._results.put(None)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """No warnings, which one thread cannot silence for itself; and one thread of torch each."""
    with using_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_of_a_full_disk(problem: BaseException | None) -> bool:
    while problem is not None:
        if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        problem = problem.__cause__
    return False


def _in_words(source: Path, problem: Exception) -> str:
    if isinstance(problem, FineError):
        return str(problem)
    if isinstance(problem, MemoryError):
        return f"{source} needs more memory than there is: use fewer --jobs"
    return f"{source} could not be done ({type(problem).__name__}: {problem})"
