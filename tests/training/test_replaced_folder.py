"""A run ends with one line if its folder is deleted or replaced while it goes on."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.training import Run, Silent, resume, train
from fine.training import trainer as trainer_module
from support.runs import stop_after

MESSAGE = "was deleted, moved or replaced while this process was working in it: nothing more"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}


def delete(folder: Path) -> None:
    shutil.rmtree(folder)


def move(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))


def begin_anew(folder: Path) -> None:
    """What another process does that deletes the folder and starts a run of its own there."""
    shutil.rmtree(folder)
    folder.mkdir()
    for name in ("lock", "config.json", "state.safetensors"):
        (folder / name).write_text("of another process")


class After(Silent):
    """Does something to the folder after an epoch."""

    def __init__(self, last: int, action: Callable[[], None]):
        self.last, self.action = last, action

    def epoch(self, *, epoch: int, **_: float) -> None:
        if epoch == self.last:
            self.action()


@pytest.mark.parametrize(
    ("act", "epoch"), [(delete, 1), (delete, 3), (move, 1), (begin_anew, 1), (begin_anew, 3)]
)
def test_nothing_is_written_to_a_folder_that_was_replaced(quick, tmp_path, act, epoch):
    """After the first epoch there are checkpoints to come, after the last weights and a result."""
    folder, found = tmp_path / "run", {}

    def replace_folder() -> None:
        act(folder)
        found.update(contents(folder))

    with pytest.raises(FineError, match=f"{folder} {MESSAGE}") as problem:
        train(quick, folder, progress=After(epoch, replace_folder))
    assert "\n" not in str(problem.value)
    assert contents(folder) == found
    assert folder.exists() == (act is begin_anew)


def test_nor_by_a_run_that_was_resumed(quick, tmp_path):
    folder = stop_after(1, quick, tmp_path / "run").folder
    with pytest.raises(FineError, match=MESSAGE):
        resume(folder, progress=After(2, lambda: begin_anew(folder)))
    assert set(contents(folder).values()) == {"of another process"}


def test_the_checkpoint_of_another_process_is_not_deleted_at_the_end(quick, tmp_path, monkeypatch):
    """Between the last file and the deletion of the checkpoint."""
    folder = tmp_path / "run"
    monkeypatch.setattr(trainer_module, "draw_evaluation", lambda *_: begin_anew(folder))
    with pytest.raises(FineError, match=MESSAGE):
        train(quick, folder)
    assert sorted(contents(folder)) == ["config.json", "lock", "state.safetensors"]


@pytest.mark.slow
def test_a_run_that_was_moved_resumes_where_it_is(quick, tmp_path):
    with pytest.raises(FineError, match=MESSAGE):
        train(quick, tmp_path / "run", progress=After(1, lambda: move(tmp_path / "run")))
    resume(tmp_path / "moved")
    train(quick, tmp_path / "whole")
    weights = [Run(tmp_path / name).weights.read_bytes() for name in ("moved", "whole")]
    assert weights[0] == weights[1]
