"""`fine train`: the run that was asked for in its folder, or one line that says why not."""

import errno
import os
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fine.puzzles.task import Task
from fine.training import PROTOCOLS, ProgressBar, Run, RunConfig
from support.commands import SMALL, TINY, image_folder, puzzle_count
from support.folders import contents


@pytest.mark.slow
def test_the_command_line_and_python_make_the_same_weights(fine, trained):
    code, out, err = fine("train", "--out", "made/here", *TINY)
    assert code == 0 and not err and "made/here" in out and puzzle_count(out) == 40
    made = Path("made/here")
    assert sorted(contents(made)) == sorted(contents(trained))
    weights = (made / "model.safetensors").read_bytes()
    assert weights == (trained / "model.safetensors").read_bytes()


def test_a_run_without_a_folder_gets_one_with_its_name_and_takes_none_that_is_used(fine, started):
    for _ in range(3):
        fine("train", "--rules", "rotation+swap", "--seed", "3", *TINY)
    name = "runs/glyphs-rotation+swap-fine-3"
    assert [str(folder) for folder in started] == [name, f"{name}-2", f"{name}-3"]


def test_options_reach_the_run(fine, started):
    options = ("--protocol", "paper", "--learning-rate", "0.01", "--grad-clip", "3", "--seed", "5")
    options += ("--resample-each-epoch", "--size", "28", "--validation")
    fine("train", "--out", "run", "--model", "fine-nice", *TINY, *options)
    config = started[Path("run")]
    assert config.training == replace(
        PROTOCOLS["paper"],
        epochs=2,
        batch=16,
        learning_rate=0.01,
        grad_clip=3,
        resample_each_epoch=True,
        seed=5,
    )
    assert config.model == "fine-nice" and config.settings == {"slots": "4"}
    preset = Task.preset("glyphs", rules="affine")
    changed = replace(preset, size=28, validation=True, train_count=64, test_count=40)
    assert config.task == changed


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_stopped_run_says_how_to_continue_and_then_ends_in_the_same_weights(
    fine, trained, monkeypatch
):
    folder = "a folder [of mine]"
    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "epoch", stop)
        code, out, err = fine("train", "--out", folder, *TINY)
    assert code == 130 and not err
    assert out.splitlines()[-1] == f"stopped; continue with: fine train --resume '{folder}'"
    assert fine("train", "--resume", folder).code == 0
    weights = Path(folder, "model.safetensors").read_bytes()
    assert weights == (trained / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_a_run_stopped_before_it_began_leaves_nothing_and_says_so(fine, monkeypatch):
    monkeypatch.setattr(Task, "test_puzzles", stop)
    code, out, _ = fine("train", "--out", "run", *TINY)
    assert code == 130 and out.splitlines()[-1] == "stopped; nothing was written"
    assert not contents(Path())


@pytest.mark.slow
def test_ctrl_c_ends_training_with_a_word_and_without_a_traceback(workplace, warm_python):
    program = [*warm_python.command, "-m", "fine", "train", "--out", "run"]
    process = subprocess.Popen(
        [*program, *TINY, "--epochs", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            for line in process.stdout:
                if line.startswith("epoch 1/"):
                    break
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130 and not err
    assert out.splitlines()[-1] == "stopped; continue with: fine train --resume run"
    assert not list(workplace.rglob("*.part"))


# What bad input gets


@pytest.mark.parametrize(
    ("options", "given", "nearest"),
    [
        (["--task", "glyph"], "glyph", "glyphs"),
        (["--task", "extreme-cifar10"], "extreme-cifar10", "extreme-cifar100"),
        (["--task", "folder"], "folder", "folder:PATH"),
        (["--rules", "rotatoin"], "rotatoin", "rotation"),
        (["--rules", "swap+rotatoin"], "rotatoin", "rotation"),
        (["--rules", "rotation:unsen"], "unsen", "unseen"),
        (["--model", "fine-nic"], "fine-nic", "fine-nice"),
        (["--set", "slot=4"], "slot", "slots"),
        (["--set", "encoder=resnt"], "resnt", "resnet"),
        (["--set", "backbone=linaer"], "linaer", "linear"),
        (["--set", "query=slove"], "slove", "solve"),
        (["--protocol", "papr"], "papr", "paper"),
        (["--schedule", "one-circle"], "one-circle", "one-cycle"),
        (["--variant", "backward"], "backward", "backwards"),
        (["--variant", "backwards", "--by", "inverses"], "inverses", "inverse"),
        (["--continual", "ancor"], "ancor", "anchor"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(refused, options, given, nearest):
    message = refused("train", "--out", "run", *SMALL, *options)
    assert f"'{given}'" in message and f"did you mean '{nearest}'?" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size", 30], "image size 30 is not offered: choose one of 32, 28"),
        (["--set", "embedding_size=100"], "an embedding of 100 numbers cannot have 16 columns"),
        (["--set", "columns=7"], "an embedding of 256 numbers cannot have 7 columns"),
        (["--set", "columns=0"], "an embedding of 256 numbers cannot have 0 columns"),
        (
            ["--set", "encoder=p4-cnn", "embedding_size=72", "columns=8"],
            "must be a multiple of 128",
        ),
        (["--set", "slots=-1"], "-1 slots: give 0 or more"),
        (["--set", "slots=many"], "slots=many is not a"),
        (["--set", "slots"], "'slots' is not a setting: write NAME=VALUE"),
        (["--epochs", 0], "epochs is 0: give at least 1"),
        (["--epochs", -3], "epochs is -3: give at least 1"),
        (["--batch", 0], "batch is 0: give at least 2"),
        (["--batch", 1], "batch is 1: give at least 2"),
        (["--batch", -4], "batch is -4: give at least 2"),
        (["--learning-rate", 0], "learning_rate is 0.0: give a positive number"),
        (["--learning-rate", -0.1], "learning_rate is -0.1: give a positive number"),
        (["--learning-rate", "nan"], "learning_rate is nan: give a positive number"),
        (["--grad-clip", 0], "grad_clip is 0.0: give a positive number"),
        (["--augment-puzzles", 3], "augment_puzzles is 3: give 1"),
        (["--conjugate", 1.5], "conjugate is 1.5: give the share"),
        (["--train-count", 0], "train_count is 0: give at least 2"),
        (["--train-count", 1], "train_count is 1: give at least 2"),
        (["--train-count", -5], "train_count is -5: give at least 2"),
        (["--test-count", 0], "test_count is 0: give at least 1"),
        (["--test-count", -5], "test_count is -5: give at least 1"),
        (["--seed", -1], "seed is -1: give at least 0"),
        (["--threads", -1], "threads is -1: give 0"),
        (["--threads", 10_000], "the cores of this machine"),
        (["--rules", "reflection:unseen"], "reflection has no seen/unseen split"),
        (["--hints", 0], "'hints' with 0 hints: give 1 to 50"),
        (["--noise", 2], "noise is 2.0: give a share"),
        (["--continual", "plain", "--variant", "chain"], "leave out --variant"),
        (["--device", "tpu"], "device 'tpu' cannot be used here: choose cpu"),
        (["--device", "meta"], "device 'meta' cannot be used here: choose cpu"),
        pytest.param(
            ["--device", "cuda"],
            "device 'cuda' cannot be used here: choose cpu",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here"),
        ),
    ],
)
def test_impossible_training_is_refused_before_anything_is_written(refused, options, message):
    assert message in refused("train", "--out", "run", *SMALL, *options)


@pytest.mark.slow
def test_the_photos_of_the_docs_can_be_trained_on(fine):
    page = (Path(__file__).parents[2] / "docs/images.md").read_text(encoding="utf-8")
    tree = re.search(r"^    photos/\n((?:      .+\n)+)", page, re.MULTILINE)[1]
    command = re.search(r"^    fine (train --task folder:photos .*)$", page, re.MULTILINE)[1]
    noise = np.random.default_rng(0)
    for line in tree.splitlines():
        folder, *files = line.split()
        for file in files:
            path = Path("photos") / folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = noise.integers(256, size=(40, 60, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(path, lossless=True)
    done = fine(*command.split(), *TINY, "--out", "run")
    assert done.code == 0, done.err
    assert (Path("run") / "result.json").exists()


def add_empty(folder: Path) -> None:
    (folder / "class1/9.png").write_bytes(b"")


def add_text(folder: Path) -> None:
    (folder / "class1/notes.txt").write_text("not an image")


def add_half(folder: Path) -> None:
    image = folder / "class1/0.png"
    image.write_bytes(image.read_bytes()[:200])


@pytest.mark.parametrize(
    ("classes", "damage", "message"),
    [
        (1, None, "mine has 1 subfolder(s): expected one per class and at least 2 classes"),
        (2, None, "folder:mine leaves 1 class to train on where 2 are needed: training takes half"),
        (3, None, "leaves 1 class to test on where 2 are needed: training takes half of the"),
        (4, add_empty, "mine/class1/9.png is empty (0 bytes): remove or replace it"),
        (4, add_text, "mine/class1/notes.txt is not a readable image: remove or replace it"),
        (4, add_half, "mine/class1/0.png is not a readable image: remove or replace it"),
        (
            4,
            lambda folder: (folder / "class9").mkdir(),
            "mine/class9 has no images in it: add some or remove the folder",
        ),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_before_anything_is_written(
    refused, classes, damage, message
):
    folder = image_folder(Path("mine"), classes=classes)
    if damage:
        damage(folder)
    assert message in refused("train", "--task", "folder:mine", "--out", "run", *TINY)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            "folder:nowhere",
            "nowhere is missing: expected a folder with one subfolder of images per",
        ),
        ("folder:file", "file is a file: expected a folder with one subfolder of images per class"),
        ("folder:", "write folder:PATH"),
    ],
)
def test_a_folder_that_is_none_is_refused(refused, task, message):
    Path("file").touch()
    assert message in refused("train", "--task", task, "--out", "run", *TINY)


def test_images_that_all_look_alike_are_refused_before_anything_is_written(refused):
    for label in range(4):
        Path(f"mine/{label}").mkdir(parents=True)
        Image.new("L", (32, 32), 128).save(f"mine/{label}/grey.png")
    options = ("--task", "folder:mine", "--rules", "rotation", "--out", "run")
    message = refused("train", *options, *TINY)
    assert "choices that look alike: use images that differ more, or other rules" in message


def test_a_folder_that_holds_a_run_is_refused(refused, run):
    message = refused("train", "--out", "run", *TINY)
    remedy = "choose another folder, or continue it with --resume run"
    assert f"run holds a run already: {remedy}" in message


def test_a_finished_run_is_not_trained_again(refused, run):
    message = refused("train", "--resume", "run")
    assert "run holds a finished run: test it with `fine evaluate run`" in message


@pytest.mark.slow
@pytest.mark.parametrize("out", ["file", "file/run", "file/far/run"])
def test_a_run_below_a_file_is_refused(refused, out):
    Path("file").write_text("kept")
    message = refused("train", "--out", out, *TINY)
    assert f"could not write {out}/lock: file is a file, not a folder; choose another" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EACCES, "(Permission denied); choose a folder you can write to"),
        (errno.EROFS, "(Read-only file system); choose a folder you can write to"),
        (errno.ENOSPC, "the disk is full: could not write new/run/{file}; free some space"),
    ],
)
@pytest.mark.parametrize(("call", "file"), [("mkdir", "lock"), ("write_text", "config.json")])
def test_a_place_that_cannot_be_written_to_is_named_and_left_as_it_was(
    refused, monkeypatch, call, file, number, message
):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, call, fail)
    line = refused("train", "--out", "new/run", *TINY)
    assert message.format(file=file) in line and f"new/run/{file}" in line


def test_a_run_is_resumed_with_its_own_threads_unless_others_are_asked_for(fine, monkeypatch):
    asked: list[int] = []
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    Run(Path("run")).save_config(RunConfig())

    def note(*_: object, threads: int, **__: object) -> None:
        asked.append(threads)
        raise KeyboardInterrupt

    monkeypatch.setattr("fine.cli.train.resume", note)
    assert "threads" not in fine("train", "--resume", "run").out
    line = "started with threads=1, continued with threads=2: the weights will differ"
    assert line in fine("train", "--resume", "run", "--threads", "2").out
    assert asked == [0, 2]


@pytest.mark.slow
def test_a_disk_that_fills_up_during_training_keeps_a_run_that_can_be_resumed(
    fine, trained, monkeypatch
):
    write, checkpoints = Path.write_bytes, []

    def fail(file: Path, content: bytes) -> int:
        checkpoints.extend([file] if file.name.startswith(".state") else [])
        if len(checkpoints) == 2:  # the one after the second epoch
            write(file, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        code, _, err = fine("train", "--out", "run", *TINY)
    what = "could not write run/state.safetensors; free some space and try again"
    assert code == 2 and err == f"error: the disk is full: {what}\n"
    assert sorted(contents(Path("run"))) == ["config.json", "metrics.csv", "state.safetensors"]
    assert fine("train", "--resume", "run").code == 0
    weights = Path("run/model.safetensors").read_bytes()
    assert weights == (trained / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_is_reported_in_one_line(warm_python):
    program = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_240, 10_240))\n"  # as `ulimit -f 20`
        f"sys.argv = ['fine', 'train', '--out', 'run', *{TINY}]\n"
        "runpy.run_module('fine', run_name='__main__')\n"
    )
    done = warm_python.run("-c", program)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: could not write run/state.safetensors")
    assert "File too large" in done.stderr
    assert sorted(contents(Path("run"))) == ["config.json"]


@pytest.mark.parametrize(
    ("task", "rules"),
    [("glyphs", "affine"), ("strings", "all"), ("universal", "universal"), ("folder:x", "affine")],
)
def test_a_task_has_rules_of_its_own(fine, started, task, rules):
    fine("train", "--task", task)
    [(folder, config)] = started.items()
    assert config.task.rules == rules
    assert folder.name == f"{task.replace(':', '-')}-{rules}-fine-0"
