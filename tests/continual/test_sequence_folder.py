"""The folder of a sequence that was stopped: moved, changed, linked or deleted, and resumed."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.training import Run, Silent, resume, train

pytestmark = pytest.mark.slow  # all of it rests on trained runs

STAGES = ["1-translation", "2-swap"]


@pytest.fixture(scope="module")
def config(task) -> ContinualConfig:
    """Two families and a model that trains in a moment."""
    return ContinualConfig(
        model="fine-grouped",
        task=replace(task, rules="translation+swap", train_count=16, test_count=4),
        settings={"encoder": "mlp", "symmetry": "none", "slots": 2, "groups": 2},
        training=replace(ContinualConfig().training, epochs=1, batch=4),
        strategy="anchor",
    )


class InSecondStage(Silent):
    """Does something at the first step of the second stage, by default what Ctrl-C does."""

    def __init__(self, action: Callable[[], None] | None = None):
        self.action, self.stages = action, 1

    def step(self, **_: float) -> None:
        if self.stages == 2:
            self.stages += 1
            if self.action is None:
                raise KeyboardInterrupt
            self.action()

    def epoch(self, **_: float) -> None:
        self.stages += 1


@pytest.fixture(scope="module")
def stopped_once(config, tmp_path_factory) -> Path:
    """A sequence that was stopped before the first checkpoint of its second stage."""
    folder = tmp_path_factory.mktemp("runs") / "stopped"
    with pytest.raises(KeyboardInterrupt):
        train(config, folder, progress=InSecondStage())
    assert Run(folder / STAGES[0]).finished and not Run(folder / STAGES[1]).checkpoint.exists()
    return folder


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory) -> Path:
    """The same, left in peace."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(config, folder)
    return folder


@pytest.fixture
def stopped(stopped_once, tmp_path) -> Iterator[Path]:
    """The sequence in another place; that where it was trained is gone for now."""
    aside = stopped_once.with_name("aside")
    stopped_once.rename(aside)
    folder = Path(shutil.copytree(aside, tmp_path / "moved"))
    yield folder
    aside.rename(stopped_once)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_sequence_that_was_moved_resumes_to_the_same_weights(stopped, whole):
    resume(stopped)
    assert Run(stopped).weights.read_bytes() == Run(whole).weights.read_bytes()
    assert files(stopped) == files(whole)


def test_it_resumes_from_another_working_folder(stopped, whole, monkeypatch):
    monkeypatch.chdir(stopped)
    resume(Path())
    assert Run(stopped).weights.read_bytes() == Run(whole).weights.read_bytes()


def test_what_killed_processes_left_is_deleted(stopped, whole):
    for place in (stopped, *(stopped / stage for stage in STAGES)):
        (place / ".families.json.1.part").write_text("half")
        (place / "lock").write_text(" 1")
    resume(stopped)
    assert files(stopped) == files(whole)


def edit_config(folder: Path, part: str, **changes: object) -> None:
    path = folder / "config.json"
    content = json.loads(path.read_text())
    content[part] |= changes
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("place", ["", *STAGES])
def test_a_sequence_whose_configuration_was_changed_is_not_resumed(stopped, place):
    edit_config(stopped / place, "training", seed=7)
    before = files(stopped)
    message = r"does not fit .* any more \(training.seed was . and is .\): put it back"
    with pytest.raises(FineError, match=message):
        resume(stopped)
    assert files(stopped) == before


def test_a_stage_that_is_a_link_is_refused_and_its_target_left_alone(stopped, tmp_path):
    (stopped / STAGES[1]).rename(tmp_path / "target")
    (stopped / STAGES[1]).symlink_to(tmp_path / "target")
    before = files(tmp_path / "target")
    with pytest.raises(FineError, match="2-swap is a link: expected a folder of this sequence"):
        resume(stopped)
    assert files(tmp_path / "target") == before


def test_a_stage_that_is_trained_has_one_process(config, tmp_path):
    def refused() -> None:
        with pytest.raises(FineError, match=r"process .* is working in .*2-swap"):
            resume(tmp_path / "run" / STAGES[1])

    train(config, tmp_path / "run", progress=InSecondStage(refused))


@pytest.mark.parametrize("place", ["", STAGES[1]])
def test_a_sequence_that_is_deleted_on_its_way_is_not_made_again(config, tmp_path, place):
    folder = tmp_path / "run" / place
    with pytest.raises(FineError, match="was deleted, moved or replaced while"):
        train(config, tmp_path / "run", progress=InSecondStage(lambda: shutil.rmtree(folder)))
    assert not folder.exists()
