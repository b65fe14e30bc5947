"""A run is resumed with as many threads as it was started with, unless another number is given."""

import contextlib
import json
import os
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.training import Run, RunConfig, Silent, resume
from fine.training.api import other_threads
from support.runs import stop_after


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch) -> None:
    """A machine with two cores, where torch would use both; here it only counts them."""
    threads = [2]
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(torch, "set_num_threads", threads.append)


class ThreadCounter(Silent):
    """Notes how many threads compute, and stops training after an epoch."""

    def epoch(self, **_: float) -> None:
        self.count = torch.get_num_threads()
        raise KeyboardInterrupt


def begun_with(threads: int, config: RunConfig, folder: Path) -> Run:
    """A stopped run; afterwards torch has two threads again."""
    torch.set_num_threads(threads)
    run = stop_after(1, config, folder)
    torch.set_num_threads(2)
    return run


def threads_when_resumed(run: Run, threads: int = 0) -> int:
    counter = ThreadCounter()
    with contextlib.suppress(KeyboardInterrupt):
        resume(run.folder, threads=threads, progress=counter)
    assert torch.get_num_threads() == 2  # as it was
    return counter.count


def test_a_run_keeps_its_number_of_threads(quick, tmp_path):
    run = begun_with(1, quick, tmp_path / "run")
    assert run.threads() == 1 and other_threads(run) == ""
    assert threads_when_resumed(run) == 1


def test_so_does_one_that_was_stopped_before_its_first_checkpoint(quick, tmp_path):
    run = begun_with(1, quick, tmp_path / "run")
    run.checkpoint.unlink()
    assert threads_when_resumed(run) == 1


def test_another_number_is_used_and_announced(quick, tmp_path):
    run = begun_with(1, quick, tmp_path / "run")
    line = other_threads(run, 2)
    assert line.startswith(
        "started with threads=1, continued with threads=2: the weights will diff"
    )
    assert other_threads(run, 1) == ""
    assert threads_when_resumed(run, 2) == 2


def test_a_machine_with_fewer_cores_uses_those_it_has(quick, tmp_path, monkeypatch):
    run = begun_with(2, quick, tmp_path / "run")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert "started with threads=2, continued with threads=1" in other_threads(run)
    assert threads_when_resumed(run) == 1


def change_threads(run: Run, **changes: object) -> None:
    path = run.folder / "config.json"
    content = json.loads(path.read_text())
    content.pop("threads")
    path.write_text(json.dumps({**content, **changes}))


def test_a_run_of_an_earlier_version_takes_the_threads_there_are(quick, tmp_path):
    run = begun_with(1, quick, tmp_path / "run")
    change_threads(run)
    assert run.threads() == 0 and other_threads(run) == ""
    assert threads_when_resumed(run) == 2


@pytest.mark.parametrize("threads", [-1, "2", 1.5, None, True])
def test_a_number_that_is_none_is_refused(quick, tmp_path, threads):
    run = Run(tmp_path)
    run.save_config(quick)
    change_threads(run, threads=threads)
    with pytest.raises(FineError, match=r"config.json: threads is .*, expected a whole number"):
        resume(run.folder)


def test_the_number_of_threads_is_no_part_of_what_a_run_is(quick, tmp_path):
    """Or results of the same cell would have other names on other machines."""
    run = begun_with(1, quick, tmp_path / "run")
    assert run.config() == quick.complete()
