"""Promises of what is on disk: whatever kills a run, and wherever, it goes on to the same bits; a full disk loses nothing.

FINE_THOROUGH=1 tries many more moments, as `make reliability` does.
"""

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.locking import locked
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import resume, train

THOROUGH = os.environ.get("FINE_THOROUGH") == "1"
MOMENTS = 50 if THOROUGH else 6
SERVER = multiprocessing.get_context("forkserver")  # its processes have torch loaded already, so most of their life is training
SERVER.set_forkserver_preload(["fine.training", "matplotlib.pyplot"])


@pytest.fixture
def config(noisy_pictures) -> RunConfig:
    """A run of a few tenths of a second, half of which it spends writing."""
    task = Task(images=f"folder:{noisy_pictures}", rules="swap", train_count=32, test_count=2)
    return RunConfig(model="fine", task=task, training=Training(epochs=12, batch=16), settings={"encoder": "mlp", "slots": 2})


@pytest.fixture
def whole(config, tmp_path) -> Path:
    """The same run, left in peace."""
    train(config, tmp_path / "whole")
    return tmp_path / "whole"


def begun(config: RunConfig, folder: Path) -> Path:
    """A run of which nothing but the wish is there; `resume` does the rest."""
    Run(folder).save_config(config)
    return folder


def same_files(folder: Path, whole: Path) -> None:
    """Two finished runs have the same files, and no others; times and speeds are their own."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in whole.iterdir())
    for name in ("model.safetensors", "puzzles.png"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    rows, expected = ((place / "metrics.csv").read_text().splitlines() for place in (folder, whole))
    assert [row.rpartition(",")[0] for row in rows] == [row.rpartition(",")[0] for row in expected]


def test_killed_at_random_moments_a_run_ends_in_the_same_bits(config, whole, tmp_path):
    moments, killed, folders = random.Random(0), 0, []
    for name in ("first", "calm"):  # the first also starts the server, which takes longer than the run
        started = time.monotonic()
        calm = SERVER.Process(target=resume, args=(begun(config, tmp_path / name),))
        calm.start()
        calm.join()
    a_run = time.monotonic() - started
    same_files(tmp_path / "calm", whole)
    while killed < MOMENTS:
        if not folders or Run(folders[-1]).finished:
            folders.append(begun(config, tmp_path / f"killed{len(folders)}"))
        victim = SERVER.Process(target=resume, args=(folders[-1],))
        victim.start()
        victim.join(moments.uniform(0, a_run))
        victim.kill()
        victim.join()
        killed += victim.exitcode == -signal.SIGKILL
    if not Run(folders[-1]).finished:
        resume(folders[-1])
    for folder in folders:
        with locked(folder):  # one that was killed after its last write leaves its lock: it keeps nobody out, and goes with him
            pass
        same_files(folder, whole)


def die_at(call: int, config: RunConfig, folder: Path) -> None:
    """Train, and be killed at the given call, counting from 0, of those that change what is on disk."""
    calls = iter(range(1_000_000))

    def deadly(function):
        def counted(*arguments, **options):
            if next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return counted

    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir")):
        setattr(owner, name, deadly(getattr(owner, name)))
    train(config, folder)


def test_killed_at_any_step_of_any_write_a_run_ends_in_the_same_bits(config, tmp_path):
    config = replace(config, training=replace(config.training, epochs=1))
    train(config, tmp_path / "whole")
    call = 0
    while True:
        folder = tmp_path / f"step{call}"
        victim = SERVER.Process(target=die_at, args=(call, config, folder))
        victim.start()
        victim.join()
        if victim.exitcode != -signal.SIGKILL:
            break  # there are no more calls than that
        if not Run(folder).exists:
            train(config, folder)
        elif not Run(folder).finished:
            resume(folder)
        (folder / "lock").unlink(missing_ok=True)  # all that may be left of one who died on the very last step
        same_files(folder, tmp_path / "whole")
        call += 1 if THOROUGH else 4
    assert victim.exitcode == 0 and call > 18  # six files, each flushed, renamed and its name flushed


def test_a_second_process_in_a_run_folder_is_refused_with_the_number_of_the_first(config, tmp_path):
    config = replace(config, training=replace(config.training, epochs=100_000))
    folder = begun(config, tmp_path / "busy")
    first = SERVER.Process(target=resume, args=(folder,))
    first.start()
    try:
        while not Run(folder).state.exists():
            assert first.is_alive()
            time.sleep(0.02)
        with pytest.raises(FineError, match=f"process {first.pid} is working in {folder}: wait for it, or choose another"):
            resume(folder)
        with pytest.raises(FineError, match="holds a run already"):
            train(config, folder)
    finally:
        first.kill()
        first.join()
    assert (folder / "lock").read_text() == str(first.pid)
    with locked(folder):  # what a dead process left locks nobody out
        assert (folder / "lock").read_text() == str(os.getpid())
    assert not (folder / "lock").exists()


def test_two_who_begin_a_run_at_once_do_not_both_write_it(config, tmp_path):
    with locked(tmp_path / "new"), pytest.raises(FineError, match=f"process {os.getpid()} is working in"):
        train(config, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_lock_that_was_deleted_and_made_anew_locks_all_the_same(tmp_path):
    """Many who wait for one folder have it one after the other, though each deletes the file the others wait on."""
    waiting = [SERVER.Process(target=add_one, args=(tmp_path,)) for _ in range(8)]
    (tmp_path / "count").write_text("0")
    for process in waiting:
        process.start()
    for process in waiting:
        process.join()
    assert (tmp_path / "count").read_text() == "200"


def add_one(folder: Path) -> None:
    for _ in range(25):
        with locked(folder, patience=60):
            (folder / "count").write_text(str(int((folder / "count").read_text()) + 1))


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of its own, which root may have; others see the full disks that tests/test_cli.py stages."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not shutil.which("mount") or subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def resize(disk: Path, kilobytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", disk], check=True)


def test_a_disk_that_is_full_stops_a_run_that_goes_on_when_there_is_room(config, whole, small_disk, tmp_path):
    folder = begun(config, small_disk / "run")
    weights = (whole / "model.safetensors").stat().st_size // 1024
    state = 3 * weights  # Adam keeps two numbers for every weight
    kept: bytes | None = None
    for room, file in ((state // 2, "state"), (state * 3 // 2, "state")):  # too small for one state; for a second beside it
        resize(small_disk, room)
        done = subprocess.run([sys.executable, "-m", "fine", "train", "--resume", folder], capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        assert f"the disk is full: could not write {folder}/{file}.safetensors; free some space" in done.stderr
        assert done.stderr.count("\n") == 1
        assert not list(folder.glob(".*.part"))
        kept = Run(folder).state.read_bytes() if Run(folder).state.exists() else None
    assert kept, "the state after the first epoch fits and is kept"
    resize(small_disk, 10 * state)
    resume(folder)
    same_files(folder, whole)
