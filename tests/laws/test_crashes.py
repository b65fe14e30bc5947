"""Whatever kills a run, and wherever, it resumes to the same bits; a full disk loses nothing.

FINE_THOROUGH=1 tries many more moments, as `make reliability` does.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fine.errors import FineError
from fine.io.locks import locked
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Silent, Training, resume, train
from support.commands import image_folder
from support.processes import SERVER
from support.runs import with_training

THOROUGH = os.environ.get("FINE_THOROUGH") == "1"
MOMENTS = 50 if THOROUGH else 6


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> RunConfig:
    """A run of a few tenths of a second, half of which it spends writing."""
    images = image_folder(tmp_path_factory.mktemp("images") / "noise")
    task = Task(images=f"folder:{images}", rules="swap", train_count=32, test_count=1)
    settings = {"encoder": "mlp", "symmetry": "none", "slots": 2}
    return RunConfig(task=task, training=Training(epochs=12, batch=16), settings=settings)


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory) -> Path:
    """The same run, left in peace."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(config, folder)
    return folder


def begun(config: RunConfig, folder: Path) -> Path:
    """A run with a configuration and nothing else; `resume` does the rest."""
    Run(folder).save_config(config)
    return folder


def assert_same_files(folder: Path, whole: Path) -> None:
    """Two finished runs have the same files, and no others; times and speeds are their own."""
    names, expected_names = (sorted(path.name for path in one.iterdir()) for one in (folder, whole))
    assert names == expected_names
    for name in ("model.safetensors", "puzzles.png"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    rows, expected = ((one / "metrics.csv").read_text().splitlines() for one in (folder, whole))
    assert [row.rpartition(",")[0] for row in rows] == [row.rpartition(",")[0] for row in expected]


@pytest.mark.slow
def test_killed_at_random_moments_a_run_ends_in_the_same_bits(
    config, whole, tmp_path, record_property
):
    """The moments differ with the speed of the machine; the law holds at all of them."""
    moments, killed, folders = random.Random(0), 0, []
    for name in ("first", "calm"):  # the first also starts the server, which takes longer
        started = time.monotonic()
        calm = SERVER.Process(target=resume, args=(begun(config, tmp_path / name),))
        calm.start()
        calm.join()
    a_run = time.monotonic() - started
    assert_same_files(tmp_path / "calm", whole)
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
        with locked(folder):  # removes the lock file of a process killed after its last write
            pass
        assert_same_files(folder, whole)
    record_property("figure", f"{killed} kills, {len(folders)} runs, all with the same bits")


class KillAfter(Silent):
    """Kills its own process once the checkpoint of an epoch is on disk."""

    def __init__(self, epoch: int):
        self.last = epoch

    def epoch(self, *, epoch: int, **_: float) -> None:
        if epoch == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def resume_and_die(folder: Path, epoch: int) -> None:
    resume(folder, progress=KillAfter(epoch))


@pytest.mark.slow
def test_kill_minus_nine_loses_at_most_an_epoch(config, whole, tmp_path, warm_python):
    folder = begun(config, tmp_path / "run")
    for epoch in (2, 5, 12):
        victim = SERVER.Process(target=resume_and_die, args=(folder, epoch))
        victim.start()
        victim.join()
        assert victim.exitcode == -signal.SIGKILL and not Run(folder).finished
        rows = (folder / "metrics.csv").read_text().splitlines()
        assert len(rows) == 1 + epoch
    resumed = warm_python.run("-m", "fine", "train", "--resume", str(folder))  # the user's way
    assert resumed.returncode == 0, resumed.stderr
    assert_same_files(folder, whole)


def die_at(call: int, config: RunConfig, folder: Path) -> None:
    """Train, and be killed at this call, counting from 0, of those that change the disk."""
    calls = iter(range(1_000_000))

    def deadly(function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            if next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return counted

    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir")):
        setattr(owner, name, deadly(getattr(owner, name)))
    train(config, folder)


@pytest.mark.slow
def test_killed_at_any_step_of_any_write_a_run_ends_in_the_same_bits(
    config, tmp_path, record_property
):
    config = with_training(config, epochs=1)
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
        (folder / "lock").unlink(missing_ok=True)  # of a process that died at its very last step
        assert_same_files(folder, tmp_path / "whole")
        call += 1 if THOROUGH else 4
    # Six files, each flushed, renamed and its name flushed.
    assert victim.exitcode == 0 and call > 18
    record_property("figure", f"{call} calls that change the disk")


@pytest.mark.slow
def test_a_second_process_in_a_run_folder_is_refused_with_the_number_of_the_first(config, tmp_path):
    config = with_training(config, epochs=100_000)
    folder = begun(config, tmp_path / "busy")
    first = SERVER.Process(target=resume, args=(folder,))
    first.start()
    try:
        while not Run(folder).checkpoint.exists():
            assert first.is_alive()
            time.sleep(0.02)
        message = f"process {first.pid} is working in {folder}: wait for it, or choose another"
        with pytest.raises(FineError, match=message):
            resume(folder)
        with pytest.raises(FineError, match="holds a run already"):
            train(config, folder)
    finally:
        first.kill()
        first.join()
    assert int((folder / "lock").read_text()) == first.pid
    with locked(folder):  # what a dead process left locks nobody out
        assert int((folder / "lock").read_text()) == os.getpid()
    assert not (folder / "lock").exists()


def delete_a_busy_folder(folder: Path) -> None:
    """Again if a file was written to it meanwhile."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("anew", [False, True], ids=["deleted", "replaced"])
def test_a_run_whose_folder_is_deleted_ends_and_touches_nothing(config, whole, tmp_path, anew):
    """At moments of its own: in the middle of an epoch, of a write, or of a look at the folder."""
    for attempt in range(20 if THOROUGH else 2):
        folder = begun(with_training(config, epochs=100_000), tmp_path / f"busy{attempt}")
        first = SERVER.Process(target=resume, args=(folder,))
        first.start()
        try:
            while not Run(folder).checkpoint.exists():
                assert first.is_alive()
                time.sleep(0.02)
            delete_a_busy_folder(folder)
            if anew:
                train(config, folder)
            first.join(60)
            assert first.exitcode == 1  # an error, in the process of a test
        finally:
            first.kill()
            first.join()
        if anew:
            assert_same_files(folder, whole)
        else:
            assert not folder.exists()


def test_a_lock_that_is_a_link_costs_nobody_a_file(config, tmp_path):
    folder = begun(config, tmp_path / "run")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder / "lock").symlink_to(victim)
    with pytest.raises(FineError, match="lock is a link or no ordinary file: expected a lock file"):
        resume(folder)
    assert victim.read_text() == "precious" and (folder / "lock").is_symlink()
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "lock"]


def test_of_two_processes_that_start_a_run_at_once_one_is_refused(config, tmp_path):
    message = f"process {os.getpid()} is working in"
    with locked(tmp_path / "new"), pytest.raises(FineError, match=message):
        train(config, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of its own, for root; tests/io/test_files.py stages full disks for everybody."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", disk]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def resize(disk: Path, kilobytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", disk], check=True)


@pytest.mark.slow
def test_a_full_disk_stops_a_run_that_resumes_when_there_is_room(
    config, whole, small_disk, warm_python
):
    run = Run(begun(config, small_disk / "run"))
    weights = (whole / "model.safetensors").stat().st_size // 1024
    checkpoint = 3 * weights  # Adam keeps two numbers for every weight
    # First there is too little room for one checkpoint, then for a second beside it.
    for room in (checkpoint // 2, checkpoint * 3 // 2):
        resize(small_disk, room)
        done = warm_python.run("-m", "fine", "train", "--resume", str(run.folder))
        assert done.returncode == 2, done.stderr
        message = f"the disk is full: could not write {run.checkpoint}; free some space"
        assert message in done.stderr and done.stderr.count("\n") == 1
        assert not list(run.folder.glob(".*.part"))
    assert run.checkpoint.exists()  # that of the first epoch, which had room
    resize(small_disk, 10 * checkpoint)
    resume(run.folder)
    assert_same_files(run.folder, whole)
