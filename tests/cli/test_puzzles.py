"""`fine puzzles`: puzzles in the terminal and in files."""

import re
from pathlib import Path

import pytest

from fine.puzzles.task import Task


@pytest.mark.slow
def test_puzzles_are_shown_and_their_answers_only_with_the_option(fine):
    code, plain, err = fine("puzzles", "--count", 2, "--start", 5)
    assert code == 0 and not err
    assert re.findall(r"^puzzle (\d+)", plain, re.MULTILINE) == ["5", "6"]
    answered = fine("puzzles", "--count", 2, "--start", 5, "--answers").out
    assert "✓" not in plain and answered.count("✓") == 2
    assert re.search(r"^puzzle 5 · \w+", answered, re.MULTILINE)


@pytest.mark.slow
def test_a_puzzle_of_one_number_is_the_same_however_many_are_shown(fine):
    alone = fine("puzzles", "--count", 1, "--start", 3).out
    assert fine("puzzles", "--count", 4).out.endswith(alone)


@pytest.mark.slow
def test_training_puzzles_are_others_and_belong_to_a_seed(fine):
    sets = ([], ["--train"], ["--train", "--seed", "1"])
    assert len({fine("puzzles", "--count", 1, *options).out for options in sets}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("variant", [[], ["--variant", "chain"]])
@pytest.mark.parametrize(
    ("name", "start"), [("sheet.png", b"\x89PNG"), ("new/sheet.SVG", b"<?xml")]
)
def test_puzzles_are_drawn_to_a_file(fine, name, start, variant):
    code, out, _ = fine("puzzles", "--count", 2, "--out", name, *variant)
    assert code == 0 and f"drawn to {name}" in out and Path(name).read_bytes().startswith(start)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "families"),
    [
        (["--rules", "rotation+swap"], ["rotation", "swap"]),
        (["--rules", "shear:unseen", "--train"], ["shear"]),
    ],
)
def test_redraws_are_counted_for_each_family(fine, options, families):
    code, out, _ = fine("puzzles", "--redraws", "--count", 50, *options)
    rows = re.findall(r"│ (\S+) +│ 50 +│ (\d+) +│ ([\d.]+)% │", out)
    assert code == 0 and [row[0] for row in rows] == families
    # One of 50 puzzles is 2 %.
    assert all(float(share) == 2 * int(again) for _, again, share in rows)


@pytest.mark.slow
def test_redraws_are_counted_over_the_rules_that_were_asked_for(fine, monkeypatch):
    counted = []
    draw = Task.test_puzzles

    def spy(task: Task, *arguments: object) -> object:
        counted.append(task.rules)
        return draw(task, *arguments)

    monkeypatch.setattr(Task, "test_puzzles", spy)
    assert fine("puzzles", "--redraws", "--rules", "shear+rotation:unseen").code == 0
    assert counted == ["shear:unseen", "rotation:unseen"]


@pytest.mark.slow
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
        (["--task", "strings", "--rules", "all", "--redraws"], "leave out --redraws"),
        (["--task", "strings", "--rules", "all", "--variant", "chain"], "leave out --variant"),
    ],
)
def test_impossible_puzzles_are_refused(refused, options, message):
    assert message in refused("puzzles", *options)
