from dataclasses import replace
from pathlib import Path

import pytest

from fine.puzzles.task import PRESETS
from fine.training import PROTOCOLS, Run, RunConfig, train
from support.folders import contents

GLYPHS = replace(PRESETS["glyphs"], train_classes=20, test_classes=20)
"""The task `glyphs` in these tests: puzzles over fewer characters are drawn sooner."""


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch) -> Path:
    """An empty current folder, without the user's own data."""
    monkeypatch.setitem(PRESETS, "glyphs", GLYPHS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FINE_DATA", raising=False)
    return tmp_path


@pytest.fixture
def refused(fine):
    """Run a command that must be refused in one line and change no file; returns that line."""

    def call(*arguments: object) -> str:
        before = contents(Path())
        code, out, err = fine(*arguments)
        assert code == 2, out + err
        assert err.startswith("error: ") and err.endswith("\n") and err.count("\n") == 1
        assert "Traceback" not in out + err
        assert contents(Path()) == before
        return err

    return call


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """A tiny run on grey images, made in Python with the settings of TINY."""
    folder = tmp_path_factory.mktemp("runs") / "trained"
    task = replace(GLYPHS, rules="affine", train_count=64, test_count=40)
    training = replace(PROTOCOLS["quick"], epochs=2, batch=16)
    config = RunConfig(model="fine", task=task, training=training, settings={"slots": 4})
    train(config, folder)
    return folder


@pytest.fixture
def run(trained, workplace) -> Path:
    """A copy of the tiny run that a test may damage."""
    folder = workplace / "run"
    folder.mkdir()
    for file in trained.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.fixture
def started(monkeypatch) -> dict[Path, RunConfig]:
    """Folder -> the run that `fine train` starts there; it is stopped at once."""
    runs: dict[Path, RunConfig] = {}

    def stop(config: RunConfig, folder: Path, **_: object) -> None:
        runs[folder] = config
        Run(folder).save_config(config)
        raise KeyboardInterrupt

    monkeypatch.setattr("fine.cli.train.train", stop)
    return runs
