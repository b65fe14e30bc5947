"""`fine benchmark`: what it prints and writes, and what it refuses."""

import json

import pytest

from support.pillow_puzzles import puzzle


@pytest.fixture
def data(tmp_path):
    """Two puzzles in folders."""
    for number in (2, 7):
        folder = tmp_path / "data" / f"{number}"
        folder.mkdir(parents=True)
        (x, y, new, *choices), place = puzzle(number)
        for name, image in zip(("x", "y", "new", *"abcd"), (x, y, new, *choices), strict=True):
            image.save(folder / f"{name}.png")
        (folder / "answer.txt").write_text("abcd"[place])
    return tmp_path / "data"


def test_a_benchmark_is_printed_and_written(fine, data, tmp_path):
    out = tmp_path / "result.json"
    done = fine("benchmark", "folder", "--data", data, "--out", out)
    assert done.code == 0, done.err
    assert "100.0%" in done.out and "network alone" in done.out and "25.0%" in done.out
    written = json.loads(out.read_text())
    assert written["rows"][-1]["puzzles"] == 2 and written["missed"] == []
    assert written["model"] and written["provenance"]["commit"] and written["verified"] is True


def test_a_benchmark_speaks_json(fine, data):
    done = fine("benchmark", "folder", "--data", data, "--json", "--model-only", "--each", 1)
    said = json.loads(done.out)
    assert said["puzzles"] == 1 and said["verified"] is False
    assert said["rows"][0]["right"] == said["rows"][0]["right_alone"]


@pytest.mark.slow
def test_a_run_of_any_model_can_answer(fine, data, tmp_path):
    run = tmp_path / "vit"
    small = ("--epochs", 1, "--train-count", 64, "--test-count", 10)
    done = fine("train", "--task", "glyphs", "--model", "vit", *small, "--out", run)
    assert done.code == 0, done.err
    done = fine("benchmark", "folder", "--data", data, "--model", run, "--results", tmp_path)
    assert done.code == 0, done.err
    assert "the network alone" in done.out and "1 record written" in done.out
    (file,) = (tmp_path / "ledger" / "benchmarks").iterdir()
    record = json.loads(file.read_text())
    assert record["model"] == "vit" and record["right"] == record["right_alone"]
    assert record["run"]["model"] == "vit" and record["run"]["task"]["images"] == "glyphs"


def test_arc_tasks_are_printed(fine, tmp_path):
    grids = [[[1, 2], [0, 3]], [[4, 0], [5, 6]]]
    pairs = [{"input": grid, "output": grid[::-1]} for grid in grids]
    task = {"train": pairs[:1], "test": pairs[1:]}
    (tmp_path / "flipped.json").write_text(json.dumps(task))
    done = fine("benchmark", "arc", "--data", tmp_path / "flipped.json")
    assert done.code == 0, done.err
    assert "1 of 1 tasks are one turn or mirror" in done.out and "top-bottom" in done.out


@pytest.mark.slow
def test_results_go_to_the_ledger_and_to_the_report(fine, data, tmp_path):
    done = fine("benchmark", "folder", "--data", data, "--results", tmp_path)
    assert done.code == 0 and "1 record written" in done.out
    (file,) = (tmp_path / "ledger" / "benchmarks").iterdir()
    record = json.loads(file.read_text())
    assert (record["puzzles"], record["right"], record["model"]) == (2, 2, "universal")
    assert record["data"] == "data" and len(record["weights"]) == 64 and record["run"] == {}
    done = fine("report", "--results", tmp_path)
    assert done.code == 0, done.err
    assert record["key"] in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [("--each", "1"), ("--model-only",)])
def test_a_part_of_a_benchmark_is_no_record(fine, data, tmp_path, option):
    done = fine("benchmark", "folder", "--data", data, "--results", tmp_path / "r", *option)
    assert done.code == 2 and "about all puzzles" in done.err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kava", "--data", "."), "did you mean 'kiva'"),
        (("kiva", "--data", "nowhere"), "give a clone of KiVA"),
        (("folder", "--data", ".", "--each", "0"), "each is 0"),
    ],
)
def test_what_is_no_benchmark_is_refused_in_one_line(fine, arguments, message):
    done = fine("benchmark", *arguments)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1
