"""Laws of exporting: a folder holds the model of its run, and says what it was trained on."""

from dataclasses import replace

import pytest
import torch

from fine import FineError, RunConfig, Task, Training, load, train
from fine.evaluation.calibration import Calibration
from fine.io.files import read_json
from fine.pretrained import load_calibration, trained_on
from fine.pretrained.exporting import export
from fine.training import Run
from support.folders_of_models import FILES, answers, edit_config


def test_a_run_is_loaded_as_it_is_exported(run, tmp_path):
    export(run, tmp_path / "mine")
    assert {file.name for file in (tmp_path / "mine").iterdir()} == FILES
    assert torch.equal(answers(load(run)), answers(load(tmp_path / "mine")))


def test_a_calibration_goes_with_its_model(run, tmp_path):
    calibration = Calibration(1.5, 0.4, 0.6, 0.5, false_alarms=0.05, puzzles=100)
    calibration.save(run / "calibration.json")
    export(run, tmp_path / "mine")
    assert load_calibration(tmp_path / "mine") == calibration
    (run / "calibration.json").unlink()
    export(run, tmp_path / "mine")
    assert load_calibration(tmp_path / "mine") is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fine-nice", "fine-mlp"])
def test_a_run_of_the_papers_models_can_be_exported(name, tmp_path):
    task = replace(Task.preset("glyphs", rules="reflection"), train_count=32, test_count=20)
    training = Training(epochs=1, batch=16)
    train(RunConfig(model=name, task=task, training=training), tmp_path / "run")
    export(tmp_path / "run", tmp_path / "mine")
    model = load(tmp_path / "mine")
    assert torch.equal(answers(model), answers(load(tmp_path / "run")))
    assert model.config == load(tmp_path / "run").config
    assert f"--model {name}" in (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")


def test_a_folder_says_what_its_model_was_trained_on(run, tmp_path):
    export(run, tmp_path / "mine")
    assert trained_on(tmp_path / "mine") == Run(run).config().task
    load(run).save_pretrained(tmp_path / "bare")  # knows nothing of its training
    assert trained_on(tmp_path / "bare") is None


def test_where_the_images_of_a_user_are_is_not_given_away():
    task = replace(Task.preset("folder:/home/me/cats", rules="all"), data_root="/home/me")
    task = replace(task, test_images="folder:/home/me/dogs")
    shared = task.shared()
    assert shared["images"] == "folder" and "/home/me" not in str(shared)


@pytest.mark.parametrize("said", [3, {"rules": 3}, {"rules": "all", "more": 1}, []])
def test_a_folder_that_says_nonsense_of_its_training_is_refused(run, tmp_path, said):
    export(run, tmp_path / "mine")
    edit_config(tmp_path / "mine", trained_on=said)
    with pytest.raises(FineError, match=r"was trained on \("):
        trained_on(tmp_path / "mine")


def test_the_command_exports_a_run(run, tmp_path, fine):
    code, out, err = fine("export", run, tmp_path / "given")
    assert code == 0, err
    assert str(tmp_path / "given") in out
    assert torch.equal(answers(load(tmp_path / "given")), answers(load(run)))


def test_what_cannot_be_exported_is_refused_in_one_line_and_leaves_nothing(run, tmp_path, fine):
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "config.json").write_bytes((run / "config.json").read_bytes())
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    for source, target, message in (
        (tmp_path / "nowhere", tmp_path / "out", "is not a run folder"),
        (unfinished, tmp_path / "out", "is not finished"),
        (run, run, "holds a run, which exporting would overwrite"),
    ):
        code, _, err = fine("export", source, target)
        assert code == 2 and message in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert before == {file.name: file.read_bytes() for file in run.iterdir()}


def test_a_result_that_lacks_something_is_refused(run, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in run.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    result = read_json(copy / "result.json")
    del result["chance"]
    (copy / "result.json").write_text(str(result).replace("'", '"'))
    with pytest.raises(FineError, match="lacks what a card needs"):
        export(copy, tmp_path / "out")
    assert not (tmp_path / "out").exists()
