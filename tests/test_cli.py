"""Promises of the command line: each command does what it says, and bad input gets one line that helps and leaves no trace."""

import errno
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fine.images.official import OFFICIAL
from fine.progress import Shown
from fine.protocols import PROTOCOLS
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import train

TINY = ("--train-count", "64", "--test-count", "40", "--epochs", "2", "--batch", "16", "--set", "slots=4")
PROGRAM = (sys.executable, "-m", "fine")


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch) -> Path:
    """An empty current folder, without the user's own data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FINE_DATA", raising=False)
    return tmp_path


@pytest.fixture
def refused(fine):
    """Run a command that must be refused in one line, leaving all files as they were; returns that line."""

    def call(*arguments: object) -> str:
        before = contents(Path())
        code, out, err = fine(*arguments)
        assert code == 2, out + err
        assert err.startswith("error: ") and err.endswith("\n") and err.count("\n") == 1
        assert "Traceback" not in out + err
        assert contents(Path()) == before
        return err

    return call


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A tiny run on grey pictures, made in Python with the settings of TINY."""
    folder = tmp_path_factory.mktemp("runs") / "trained"
    task = replace(Task.preset("glyphs", rules="affine"), train_count=64, test_count=40)
    training = replace(PROTOCOLS["quick"], epochs=2, batch=16)
    train(RunConfig(model="fine", task=task, training=training, settings={"slots": 4}), folder)
    return folder


@pytest.fixture
def run(trained, workplace) -> Path:
    """A copy of the tiny run that a test may damage."""
    folder = workplace / "run"
    folder.mkdir()
    for file in trained.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: bytes of files, None for folders."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def pictures(folder: Path, *, classes: int = 4, colour: bool = False) -> Path:
    """A folder of noisy pictures, which no two rules make alike."""
    random = np.random.default_rng(0)
    for label in range(classes):
        (folder / f"class{label}").mkdir(parents=True)
        for number in range(3):
            pixels = random.integers(256, size=(32, 32, 3 if colour else 1), dtype=np.uint8)
            Image.fromarray(pixels if colour else pixels[:, :, 0]).save(folder / f"class{label}/{number}.png")
    return folder


def puzzle_count(out: str) -> int:
    """How many puzzles a command says it has tested on."""
    return int(re.search(r"([\d,]+) test puzzles", out)[1].replace(",", ""))


# What commands do


def test_without_arguments_the_program_shows_its_commands(fine):
    code, out, err = fine()
    assert code == 0 and not err and all(command in out for command in ("train", "evaluate", "puzzles", "data"))


@pytest.mark.parametrize("command", ["train", "evaluate", "puzzles", "data"])
def test_every_command_explains_itself(fine, command):
    code, out, err = fine(command, "--help")
    assert code == 0 and not err and out.startswith(f"usage: fine {command}")


def test_the_command_line_and_python_make_the_same_weights(fine, trained):
    code, out, err = fine("train", "--out", "made/here", *TINY)
    assert code == 0 and not err and "made/here" in out and puzzle_count(out) == 40
    assert sorted(contents(Path("made/here"))) == sorted(contents(trained))
    assert Path("made/here/model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


@pytest.fixture
def asked(monkeypatch) -> dict[Path, RunConfig]:
    """Folder -> what `fine train` asks of the training loop, which here only writes that down and stops."""
    calls: dict[Path, RunConfig] = {}

    def stop(config: RunConfig, folder: Path, **_: object) -> None:
        calls[folder] = config
        Run(folder).save_config(config)
        raise KeyboardInterrupt

    monkeypatch.setattr("fine.cli.train.train", stop)
    return calls


def test_a_run_without_a_folder_gets_one_with_its_name_and_takes_none_that_is_used(fine, asked):
    for _ in range(3):
        fine("train", "--rules", "rotation+swap", "--seed", "3", *TINY)
    assert len(asked) == 3 and all(str(folder).startswith("runs/glyphs-rotation+swap-fine-3") for folder in asked)


def test_options_reach_the_run(fine, asked):
    options = ("--protocol", "paper", "--rate", "0.01", "--clip", "3", "--fresh", "--seed", "5", "--size", "28", "--validation")
    fine("train", "--out", "run", "--model", "fine-nice", *TINY, *options)
    config = asked[Path("run")]
    expected = replace(PROTOCOLS["paper"], epochs=2, batch=16, rate=0.01, clip=3, fresh=True, seed=5)
    assert config.training == expected and config.model == "fine-nice" and config.settings == {"slots": "4"}
    preset = Task.preset("glyphs", rules="affine")
    assert config.task == replace(preset, size=28, validation=True, train_count=64, test_count=40)


def test_a_stopped_run_says_how_to_go_on_and_then_ends_in_the_same_weights(fine, trained, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    folder = "a folder [of mine]"
    with monkeypatch.context() as patch:
        patch.setattr(Shown, "epoch", stop)
        code, out, err = fine("train", "--out", folder, *TINY)
    assert code == 130 and not err
    assert out.splitlines()[-1] == f"stopped; continue with: fine train --resume '{folder}'"
    assert fine("train", "--resume", folder).code == 0
    assert Path(folder, "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


def test_a_run_stopped_before_it_began_leaves_nothing_and_says_so(fine, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Task, "test_puzzles", stop)
    code, out, _ = fine("train", "--out", "run", *TINY)
    assert code == 130 and out.splitlines()[-1] == "stopped; nothing was written" and not contents(Path())


def test_ctrl_c_ends_training_with_a_word_and_without_a_traceback(workplace):
    command = [*PROGRAM, "train", "--out", "run", *TINY, "--epochs", "100000"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests started in the background have Ctrl-C ignored, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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


def test_evaluating_a_run_gives_what_training_it_gave(fine, trained):
    code, out, err = fine("evaluate", trained, "--json", "new/numbers.json", "--picture", "sheet.png", "--by-rule")
    assert code == 0 and not err and puzzle_count(out) == 40
    numbers, result = json.loads(Path("new/numbers.json").read_text()), json.loads((trained / "result.json").read_text())
    assert numbers == {name: result[name] for name in numbers}
    assert f"{numbers['accuracy']:.1%}" in out
    assert Path("sheet.png").read_bytes().startswith(b"\x89PNG")
    assert all(row["rule"].split()[0] in out for row in numbers["by_rule"]) and "wrong object" in out


@pytest.mark.parametrize("rules", ["swap", "rotation+black-white", "shear:unseen"])
def test_a_run_can_be_tested_on_other_rules(fine, trained, rules):
    code, out, _ = fine("evaluate", trained, "--rules", rules, "--test-count", 50, "--json", "numbers.json")
    assert code == 0 and puzzle_count(out) == 50 and f"{rules} over glyphs" in out
    families = {row["family"] for row in json.loads(Path("numbers.json").read_text())["by_rule"]}
    assert families == set(rules.partition(":")[0].split("+"))


def test_a_model_of_grey_pictures_can_be_tested_on_coloured_ones(fine, trained):
    folder = pictures(Path("mine"), colour=True)
    code, out, _ = fine("evaluate", trained, "--task", f"folder:{folder}", "--test-count", 30)
    assert code == 0 and puzzle_count(out) == 30 and "affine over folder:mine" in out


def test_a_model_of_coloured_pictures_can_be_tested_on_grey_ones(fine):
    pictures(Path("colour"), colour=True)
    pictures(Path("grey"))
    assert fine("train", "--task", "folder:colour", "--rules", "rotation", "--out", "run", *TINY).code == 0
    assert Run(Path("run")).config().channels == 3
    for task in ("folder:grey", "glyphs"):
        code, out, _ = fine("evaluate", "run", "--task", task, "--test-count", 30)
        assert code == 0 and puzzle_count(out) == 30 and f"rotation over {task}" in out


def test_puzzles_are_shown_and_keep_their_answers_to_themselves_until_asked(fine):
    code, plain, err = fine("puzzles", "--count", 2, "--start", 5)
    assert code == 0 and not err and re.findall(r"^puzzle (\d+)", plain, re.MULTILINE) == ["5", "6"]
    told = fine("puzzles", "--count", 2, "--start", 5, "--answers").out
    assert "✓" not in plain and told.count("✓") == 2 and re.search(r"^puzzle 5 · \w+", told, re.MULTILINE)


def test_a_puzzle_of_one_number_is_the_same_however_many_are_shown(fine):
    alone = fine("puzzles", "--count", 1, "--start", 3).out
    assert fine("puzzles", "--count", 4).out.endswith(alone)


def test_training_puzzles_are_others_and_belong_to_a_seed(fine):
    shown = [fine("puzzles", "--count", 1, *options).out for options in ([], ["--train"], ["--train", "--seed", "1"])]
    assert len(set(shown)) == 3


@pytest.mark.parametrize(("name", "start"), [("sheet.png", b"\x89PNG"), ("new/sheet.SVG", b"<?xml")])
def test_puzzles_are_drawn_to_a_file(fine, name, start):
    code, out, _ = fine("puzzles", "--count", 2, "--out", name)
    assert code == 0 and f"drawn to {name}" in out and Path(name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("options", "families"),
    [(["--rules", "rotation+swap"], ["rotation", "swap"]), (["--rules", "shear:unseen", "--train"], ["shear"])],
)
def test_redraws_are_counted_for_each_family(fine, options, families):
    code, out, _ = fine("puzzles", "--redraws", "--count", 50, *options)
    rows = re.findall(r"│ (\S+) +│ 50 +│ (\d+) +│ ([\d.]+)% │", out)
    assert code == 0 and [row[0] for row in rows] == families
    assert all(float(share) == 2 * int(again) for _, again, share in rows)  # of 50 puzzles each is 2 %


def test_redraws_are_counted_over_the_rules_that_were_asked_for(fine, monkeypatch):
    counted = []
    draw = Task.test_puzzles
    monkeypatch.setattr(Task, "test_puzzles", lambda task: counted.append(task.rules) or draw(task))
    assert fine("puzzles", "--redraws", "--rules", "shear+rotation:unseen").code == 0
    assert counted == ["shear:unseen", "rotation:unseen"]


@pytest.mark.parametrize("root", ["empty", "nowhere", "of [/mine]"])
def test_an_empty_data_root_is_shown_as_such_with_what_to_do(fine, root):
    Path("empty").mkdir()
    code, out, err = fine("data", "--data-root", root)
    assert code == 0 and not err and f"data root: {Path(root).absolute()}" in out
    assert out.count("missing") == sum(len(source.files) for source in OFFICIAL.values())
    assert "fine data download NAME" in out and contents(Path()) == {"empty": None}


@pytest.mark.parametrize("name", list(OFFICIAL))
def test_official_data_is_shown(fine, data_root, name):
    code, out, _ = fine("data", "show", name, "--data-root", data_root)
    assert code == 0 and out.count("present") == len(OFFICIAL[name].files) and "missing" not in out


def test_official_data_is_verified(fine, data_root):
    code, out, _ = fine("data", "verify", "cifar100", "mnist", "--data-root", data_root)
    assert code == 0 and "cifar100: whole, 60,000 pictures of 100 classes, 3 channels" in out
    assert "mnist: whole, 10,000 pictures of 10 classes, 1 channels" in out
    assert all(Path(file).name in out for name in ("cifar100", "mnist") for file in OFFICIAL[name].files)


def test_a_run_remembers_its_data_root(fine, run, data_root):
    task = replace(Task.preset("mnist", rules="rotation"), test_count=40, data_root=str(data_root))
    change_config(run, task=asdict(task))
    code, out, _ = fine("evaluate", "run")  # FINE_DATA is not set here
    assert code == 0 and "rotation over mnist" in out


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
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(refused, options, given, nearest):
    message = refused("train", "--out", "run", *TINY[:-2], *options)
    assert f"'{given}'" in message and f"did you mean '{nearest}'?" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size", 30], "image size 30 is not offered: choose one of 32, 28"),
        (["--set", "code=100"], "a code of 100 numbers cannot have 16 columns"),
        (["--set", "columns=7"], "a code of 256 numbers cannot have 7 columns"),
        (["--set", "columns=0"], "a code of 256 numbers cannot have 0 columns"),
        (["--set", "encoder=p4-cnn", "code=72", "columns=8"], "the code must be a multiple of 128"),
        (["--set", "slots=-1"], "-1 slots: give 0 or more"),
        (["--set", "slots=many"], "slots=many is not a"),
        (["--set", "slots"], "'slots' is not a setting: write NAME=VALUE"),
        (["--epochs", 0], "epochs is 0: give at least 1"),
        (["--epochs", -3], "epochs is -3: give at least 1"),
        (["--batch", 0], "batch is 0: give at least 2"),
        (["--batch", 1], "batch is 1: give at least 2"),
        (["--batch", -4], "batch is -4: give at least 2"),
        (["--rate", 0], "rate is 0.0: give a positive number"),
        (["--rate", -0.1], "rate is -0.1: give a positive number"),
        (["--rate", "nan"], "rate is nan: give a positive number"),
        (["--clip", 0], "clip is 0.0: give a positive number"),
        (["--train-count", 0], "train_count is 0: give at least 2"),
        (["--train-count", 1], "train_count is 1: give at least 2"),
        (["--train-count", -5], "train_count is -5: give at least 2"),
        (["--test-count", 0], "test_count is 0: give at least 1"),
        (["--test-count", -5], "test_count is -5: give at least 1"),
        (["--seed", -1], "seed is -1: give at least 0"),
        (["--threads", -1], "threads is -1: give 0"),
        (["--threads", 10_000], "the cores of this machine"),
        (["--rules", "reflection:unseen"], "reflection has no seen/unseen split"),
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
    assert message in refused("train", "--out", "run", *TINY[:-2], *options)


@pytest.mark.parametrize("command", ["evaluate", "slots", "calibrate"])
def test_a_name_too_long_for_a_file_is_refused_in_one_line(refused, command):
    assert "9 cannot be used (File name too long)" in refused(command, "9" * 300).replace("/config.json", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--count", 0], "cannot show 0 puzzles"),
        (["--count", -1], "cannot show -1 puzzles"),
        (["--start", -1], "from number -1"),
        (["--start", 9_000_000], "give a start of at most 100,000"),
        (["--size", 30], "image size 30"),
        (["--rules", "swop"], "did you mean 'swap'?"),
        (["--task", "omniglo"], "did you mean 'omniglot'?"),
        (["--out", "sheet.jpg"], "'sheet.jpg': the name must end in .png or .svg"),
        (["--out", "sheet"], "'sheet': the name must end in .png or .svg"),
    ],
)
def test_impossible_puzzles_are_refused(refused, options, message):
    assert message in refused("puzzles", *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test-count", 0], "test_count is 0: give at least 1"),
        (["--test-count", -1], "test_count is -1: give at least 1"),
        (["--rules", "rotatoin"], "did you mean 'rotation'?"),
        (["--task", "glyfs"], "did you mean 'glyphs'?"),
        (["--task", "folder:nowhere"], "nowhere is missing"),
        (["--picture", "sheet.jpg", "--json", "numbers.json"], "'sheet.jpg': the name must end in .png or .svg"),
        (["--json", "run/config.json/new.json"], "run/config.json is a file, not a folder"),
        (["--json", "run"], "could not write run: it is a folder; give the name of a file"),
        (["--device", "tpu"], "device 'tpu' cannot be used here"),
    ],
)
def test_an_impossible_evaluation_is_refused(refused, run, options, message):
    assert message in refused("evaluate", run.relative_to(Path.cwd()), *options)


@pytest.mark.parametrize("name", list(OFFICIAL))
@pytest.mark.parametrize("command", [["train", "--out", "run", *TINY], ["puzzles"], ["data", "verify"]])
def test_missing_data_is_named_with_the_command_that_gets_it(refused, command, name):
    Path("empty").mkdir()
    which = [name] if "verify" in command else ["--task", name]
    message = refused(*command, *which, "--data-root", "empty")
    assert f"is missing from the data root {Path('empty').absolute()}: run `fine data download {name}`" in message
    assert any(str(Path("empty").absolute() / file) in message for file in OFFICIAL[name].files)


def cut_omniglot(root: Path) -> Path:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("images_background/Latin/character01/0001_01.png", bytes(5000))
    (root / "omniglot").mkdir(parents=True)
    for name in ("images_evaluation.zip", "images_background.zip"):
        path = root / "omniglot" / name
        path.write_bytes(archive.getvalue()[:3000])
    return path


def cut_cifar(root: Path) -> Path:
    (root / "cifar-100-binary").mkdir(parents=True)
    (root / "cifar-100-binary/fine_label_names.txt").write_text("\n".join(f"name{number}" for number in range(100)))
    path = root / "cifar-100-binary/train.bin"
    path.write_bytes(bytes(3074 * 10 + 5))
    return path


def cut_mnist(root: Path) -> Path:
    (root / "mnist").mkdir(parents=True)
    path = root / "mnist/t10k-images-idx3-ubyte.gz"
    path.write_bytes(
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([10_000, 28, 28], dtype=">i4").tobytes() + bytes(7_840_000))[:2000]
    )
    return path


@pytest.mark.parametrize(("name", "cut"), [("omniglot", cut_omniglot), ("cifar100", cut_cifar), ("mnist", cut_mnist)])
def test_a_file_cut_short_is_named_with_the_command_that_replaces_it(refused, fine, name, cut):
    path = cut(Path("root").absolute())
    for command in (["train", "--out", "run", *TINY, "--task", name], ["data", "verify", name]):
        message = refused(*command, "--data-root", "root")
        assert f"{path} is damaged: expected" in message and f"delete it and run `fine data download {name}`" in message
    shown = fine("data", "show", name, "--data-root", "root")
    assert shown.code == 0 and f"{path} is damaged: expected" in shown.out


def add_empty(folder: Path) -> None:
    (folder / "class1/9.png").write_bytes(b"")


def add_text(folder: Path) -> None:
    (folder / "class1/notes.txt").write_text("not a picture")


def add_half(folder: Path) -> None:
    picture = folder / "class1/0.png"
    picture.write_bytes(picture.read_bytes()[:200])


@pytest.mark.parametrize(
    ("classes", "damage", "message"),
    [
        (1, None, "mine has 1 subfolder(s): expected one per class and at least 2 classes"),
        (3, None, "folder:mine leaves 1 classes to test on where 2 are needed"),
        (4, add_empty, "mine/class1/9.png is empty (0 bytes): remove or replace it"),
        (4, add_text, "mine/class1/notes.txt is not a picture that can be read: remove or replace it"),
        (4, add_half, "mine/class1/0.png is not a picture that can be read: remove or replace it"),
        (4, lambda folder: (folder / "class9").mkdir(), "mine/class9 has no pictures in it: add some or remove the folder"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_before_anything_is_written(refused, classes, damage, message):
    folder = pictures(Path("mine"), classes=classes)
    if damage:
        damage(folder)
    assert message in refused("train", "--task", "folder:mine", "--out", "run", *TINY)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("folder:nowhere", "nowhere is missing: expected a folder with one subfolder of pictures per class"),
        ("folder:file", "file is a file: expected a folder with one subfolder of pictures per class"),
        ("folder:", "write folder:PATH"),
    ],
)
def test_a_folder_that_is_none_is_refused(refused, task, message):
    Path("file").touch()
    assert message in refused("train", "--task", task, "--out", "run", *TINY)


def test_pictures_that_all_look_alike_are_refused_before_anything_is_written(refused):
    for label in range(4):
        Path(f"mine/{label}").mkdir(parents=True)
        Image.new("L", (32, 32), 128).save(f"mine/{label}/grey.png")
    message = refused("train", "--task", "folder:mine", "--rules", "rotation", "--out", "run", *TINY)
    assert "choices that look alike: use pictures that differ more, or other rules" in message


def test_a_folder_that_holds_a_run_is_refused(refused, run):
    message = refused("train", "--out", "run", *TINY)
    assert "run holds a run already: choose another folder, or continue it with --resume run" in message


def test_a_finished_run_is_not_trained_again(refused, run):
    assert "run holds a finished run: test it with `fine evaluate run`" in refused("train", "--resume", "run")


@pytest.mark.parametrize("out", ["file", "file/run", "file/far/run"])
def test_a_run_below_a_file_is_refused(refused, out):
    Path("file").write_text("kept")
    message = refused("train", "--out", out, *TINY)
    assert f"could not write {out}/lock: file is a file, not a folder; choose another place" in message


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EACCES, "(Permission denied); choose a folder you can write to"),
        (errno.EROFS, "(Read-only file system); choose a folder you can write to"),
        (errno.ENOSPC, "the disk is full: could not write new/run/{file}; free some space"),
    ],
)
@pytest.mark.parametrize(("call", "file"), [("mkdir", "lock"), ("write_text", "config.json")])
def test_a_place_that_cannot_be_written_to_is_named_and_left_as_it_was(refused, monkeypatch, call, file, number, message):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, call, fail)
    assert message.format(file=file) in (line := refused("train", "--out", "new/run", *TINY)) and f"new/run/{file}" in line


def test_a_disk_that_fills_up_during_training_keeps_a_run_that_can_go_on(fine, trained, monkeypatch):
    write, states = Path.write_bytes, []

    def fail(file: Path, content: bytes) -> int:
        states.extend([file] if file.name.startswith(".state") else [])
        if len(states) == 2:  # the state after the second epoch
            write(file, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        code, _, err = fine("train", "--out", "run", *TINY)
    assert (
        code == 2 and err == "error: the disk is full: could not write run/state.safetensors; free some space and try again\n"
    )
    assert sorted(contents(Path("run"))) == ["config.json", "metrics.csv", "state.safetensors"]
    assert fine("train", "--resume", "run").code == 0
    assert Path("run/model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


def test_a_limit_on_the_size_of_files_is_told_in_one_line():
    limited = ["sh", "-c", 'ulimit -f 20; exec "$@"', "sh", *PROGRAM, "train", "--out", "run", *TINY]  # 20 blocks: 10 KB
    done = subprocess.run(limited, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: could not write run/state.safetensors") and "File too large" in done.stderr
    assert sorted(contents(Path("run"))) == ["config.json"]


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda run: change_config(run, format=99), "run/config.json has format 99, this version of fine reads format 2"),
        (
            lambda run: change_config(run, settings={"slots": 5}),
            "has shape [4, 16, 16], the model in config.json needs [5, 16, 16]",
        ),
        (lambda run: change_config(run, model="object-only", settings={}), "file and configuration do not match"),
        (lambda run: change_config(run, model="fin"), "unknown model 'fin': did you mean 'fine'?"),
        (lambda run: change_config(run, surprise=1), "run/config.json is not a valid run configuration"),
        (lambda run: (run / "config.json").write_text("{"), "run/config.json cannot be read as JSON"),
        (lambda run: (run / "config.json").unlink(), "run is not a run folder"),
        (lambda run: (run / "model.safetensors").write_bytes(b"nonsense"), "run/model.safetensors is damaged"),
        (lambda run: (run / "model.safetensors").unlink(), "continue it with `fine train --resume run`"),
    ],
)
def test_a_run_that_cannot_be_used_is_refused(refused, run, damage, message):
    damage(run)
    assert message in refused("evaluate", "run")


@pytest.mark.parametrize("command", [["evaluate"], ["train", "--resume"]])
def test_a_folder_without_a_run_is_refused(refused, command):
    assert "nowhere is not a run folder: it has no config.json; `fine train` makes one" in refused(*command, "nowhere")


def test_an_unknown_name_of_data_is_refused_before_anything_is_fetched(refused):
    message = refused("data", "download", "mnist", "omniglott", "--data-root", "root")
    assert "'omniglott': did you mean 'omniglot'?" in message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["trian"], "trian"),
        (["train", "--epoch", "3"], "--epoch"),
        (["train", "--epochs", "many"], "--epochs"),
        (["puzzles", "--count", "many"], "--count"),
        (["evaluate"], "RUN"),
        (["data", "fetch"], "fetch"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_refused_with_the_part_that_is_wrong(fine, arguments, named):
    code, out, err = fine(*arguments)
    assert code == 2 and not out and named in err and "--help" in err and "Traceback" not in err
    assert not contents(Path())
