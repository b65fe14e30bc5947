"""`fine evaluate`: a trained model on its own task and on others."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from fine.puzzles.task import Task
from fine.puzzles.variants import Variant
from fine.training import Run
from support.commands import TINY, change_config, image_folder, puzzle_count
from support.fuzzing import HOSTILE

pytestmark = pytest.mark.slow  # all of it rests on trained runs


def test_evaluating_a_run_gives_what_training_it_gave(fine, trained):
    options = ("--json", "new/numbers.json", "--sheet", "sheet.png", "--by-rule")
    code, out, err = fine("evaluate", trained, *options)
    assert code == 0 and not err and puzzle_count(out) == 40
    numbers = json.loads(Path("new/numbers.json").read_text())
    result = json.loads((trained / "result.json").read_text())
    assert numbers == {name: result[name] for name in numbers}
    assert f"{numbers['accuracy']:.1%}" in out
    assert Path("sheet.png").read_bytes().startswith(b"\x89PNG")
    assert all(row["rule"].split()[0] in out for row in numbers["by_rule"])
    assert "wrong object" in out


@pytest.mark.parametrize("rules", ["swap", "rotation+black-white", "shear:unseen"])
def test_a_run_can_be_tested_on_other_rules(fine, trained, rules):
    options = ("--rules", rules, "--test-count", 50, "--json", "numbers.json")
    code, out, _ = fine("evaluate", trained, *options)
    assert code == 0 and puzzle_count(out) == 50 and f"{rules} over glyphs" in out
    rows = json.loads(Path("numbers.json").read_text())["by_rule"]
    assert {row["family"] for row in rows} == set(rules.partition(":")[0].split("+"))


def test_a_model_of_grey_images_can_be_tested_on_coloured_ones(fine, trained):
    folder = image_folder(Path("mine"), colour=True)
    code, out, _ = fine("evaluate", trained, "--task", f"folder:{folder}", "--test-count", 30)
    assert code == 0 and puzzle_count(out) == 30 and "affine over folder:mine" in out


def test_a_model_of_coloured_images_can_be_tested_on_grey_ones(fine):
    image_folder(Path("colour"), colour=True)
    image_folder(Path("grey"))
    options = ("--task", "folder:colour", "--rules", "rotation", "--out", "run")
    assert fine("train", *options, *TINY).code == 0
    assert Run(Path("run")).config().channels == 3
    for task in ("folder:grey", "glyphs"):
        code, out, _ = fine("evaluate", "run", "--task", task, "--test-count", 30)
        assert code == 0 and puzzle_count(out) == 30 and f"rotation over {task}" in out


def test_a_run_remembers_its_data_root(fine, run, data_root):
    task = Task.preset("mnist", rules="rotation")
    change_config(run, task=asdict(replace(task, test_count=40, data_root=str(data_root))))
    code, out, _ = fine("evaluate", "run")  # FINE_DATA is not set here
    assert code == 0 and "rotation over mnist" in out


def test_a_run_is_tested_on_the_variant_it_was_trained_for(fine, run):
    change_config(run, variant=asdict(Variant("backwards", by="tried")))
    assert "variant: backwards, by tried" in fine("evaluate", "run").out
    assert "variant: backwards, by swapped" in fine("evaluate", "run", "--by", "swapped").out
    noisy = fine("evaluate", "run", "--noise", "0.1").out
    assert "variant: backwards, by tried, 10% noise" in noisy
    assert "variant" not in fine("evaluate", "run", "--variant", "hints").out
    assert "variant: a chain of 2" in fine("evaluate", "run", "--variant", "chain").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test-count", 0], "test_count is 0: give at least 1"),
        (["--test-count", -1], "test_count is -1: give at least 1"),
        (["--rules", "rotatoin"], "did you mean 'rotation'?"),
        (["--task", "glyfs"], "did you mean 'glyphs'?"),
        (["--task", "folder:nowhere"], "nowhere is missing"),
        (
            ["--sheet", "sheet.jpg", "--json", "numbers.json"],
            "'sheet.jpg': the name must end in .png or .svg",
        ),
        (["--json", "run/config.json/new.json"], "run/config.json is a file, not a folder"),
        (["--json", "run"], "could not write run: it is a folder; give the name of a file"),
        (["--device", "tpu"], "device 'tpu' cannot be used here"),
    ],
)
def test_an_impossible_evaluation_is_refused(refused, run, options, message):
    assert message in refused("evaluate", run.relative_to(Path.cwd()), *options)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda run: change_config(run, format=99),
            "run/config.json has format 99, this version of fine reads format 4",
        ),
        (
            lambda run: change_config(run, settings={"slots": 5}),
            "has shape [4, 16, 16], the model in config.json needs [5, 16, 16]",
        ),
        (
            lambda run: change_config(run, model="object-only", settings={}),
            "file and configuration do not match",
        ),
        (
            lambda run: change_config(run, model="fin"),
            "unknown model 'fin': did you mean 'fine'?",
        ),
        (
            lambda run: change_config(run, surprise=1),
            "run/config.json is not a valid run configuration",
        ),
        (
            lambda run: (run / "config.json").write_text("{"),
            "run/config.json cannot be read as JSON",
        ),
        (lambda run: (run / "config.json").unlink(), "run is not a run folder"),
        (
            lambda run: (run / "model.safetensors").write_bytes(b"nonsense"),
            "run/model.safetensors is damaged",
        ),
        (
            lambda run: (run / "model.safetensors").unlink(),
            "continue it with `fine train --resume run`",
        ),
    ],
)
def test_a_run_that_cannot_be_used_is_refused(refused, run, damage, message):
    damage(run)
    assert message in refused("evaluate", "run")


@pytest.mark.parametrize("command", [["evaluate"], ["train", "--resume"]])
def test_a_folder_without_a_run_is_refused(refused, command):
    message = "nowhere is not a run folder: it has no config.json; `fine train` makes one"
    assert message in refused(*command, "nowhere")


def test_names_of_folders_cannot_write_to_the_terminal(fine):
    name = "".join(HOSTILE).replace("/", "")
    image_folder(Path(name))
    options = ("--rules", "swap", "--test-count", "2", "--by-rule")
    code, out, err = fine("evaluate", "oracle", "--task", f"folder:{name}", *options)
    assert code == 0 and not err and "2 test puzzles, swap over folder:�[31mred�" in out
    assert "[bold]x[][]" in out and ":smile:" in out
    assert all(line.isprintable() for line in out.split("\n"))


def test_a_bundled_model_is_tested_by_its_name(fine, tmp_path):
    out = tmp_path / "result.json"
    options = ("--rules", "reflection", "--test-count", 20, "--json", out)
    done = fine("evaluate", "all-glyphs", *options, "--distractors", "family")
    assert done.code == 0, done.err
    assert json.loads(out.read_text())["puzzles"] == 20
    done = fine("evaluate", "all-glyphs", "--distractors", "nearby", "--test-count", 20)
    assert done.code == 2 and "nearby" in done.err


def test_two_models_are_compared_on_the_same_puzzles(fine, tmp_path):
    options = ("--task", "glyphs", "--rules", "rotation", "--test-count", 60)
    for source, other in (("all-glyphs", "pixels"), ("pixels", "all-glyphs")):
        done = fine("evaluate", source, *options, "--against", other)
        assert done.code == 0, done.err
        first, second = (float(it) for it in re.findall(r"accuracy +([\d.]+)%", done.out))
        difference = float(re.search(r"difference +(\S+)", done.out)[1])
        assert difference == pytest.approx(first - second, abs=0.11)
        assert "p < 0.001 (McNemar)" in done.out
        assert f"of {other}, on the same puzzles" in done.out


def test_models_that_see_other_images_are_not_compared(refused):
    options = ("--test-count", 5, "--against", "universal-colour")
    error = refused("evaluate", "all-glyphs", *options)
    assert "universal-colour sees colour images of 32 × 32, and all-glyphs grey images" in error
