"""Laws of benchmarks: layouts are read as documented, and what is none is refused in one line."""

import json
from pathlib import Path

import pytest
from PIL import Image

from fine import FineError
from fine.benchmarks import read_arc, read_folder, read_kiva, run_benchmark, solve_arc
from fine.benchmarks.records import OTHERS, RECORDS, find_record
from support.pillow_puzzles import puzzle

SIDES = ("train_0_input", "train_0_output", "test_0_input", "test_mc_0_input", "test_mc_1_input")
L = [[1, 0, 0], [1, 0, 0], [2, 3, 0]]
"""A grid without any symmetry."""


def save_kiva(folder: Path, parameter: str, trial: int, *, adults: bool = False) -> None:
    """A trial whose right choice is a mirror image."""
    (x, y, new, *choices), place = puzzle(2 + 5 * trial)
    wrong = choices[(place + 1) % 4]
    for side, image in zip(SIDES, (x, y, new, choices[place], wrong), strict=True):
        part = side.replace("n_0_", "n_").replace("t_0_", "t_") if adults else side
        folder.mkdir(parents=True, exist_ok=True)
        image.save(folder / f"{parameter}_{trial}_{part}.png")


@pytest.fixture
def kiva(tmp_path) -> Path:
    for trial in range(3):
        save_kiva(tmp_path / "transformed objects/KiVA/Reflect", "ReflectX", trial)
    return tmp_path


def save_folder(folder: Path, number: int) -> Path:
    """A puzzle in the documented layout."""
    (x, y, new, *choices), place = puzzle(number)
    folder.mkdir(parents=True)
    names = ("x", "y", "new", *"abcd")
    for name, image in zip(names, (x, y, new, *choices), strict=True):
        image.save(folder / f"{name}.png")
    (folder / "answer.txt").write_text("ABCD"[place] + "\n")
    return folder


def test_kiva_is_read_from_a_clone_or_from_a_folder_inside(kiva):
    puzzles = read_kiva(kiva)
    assert puzzles == read_kiva(kiva / "transformed objects") != []
    assert puzzles == read_kiva(kiva / "transformed objects/KiVA")
    assert [one.name for one in puzzles] == ["ReflectX_0", "ReflectX_1", "ReflectX_2"]
    assert [one.answer for one in puzzles] == [0, 1, 2]  # not always the first
    for one in puzzles:
        assert one.choices[one.answer].name.endswith("test_mc_0_input.png")
        assert len(set(one.choices)) == 3 and one.new in one.choices


def test_the_harder_set_has_other_names(tmp_path):
    save_kiva(tmp_path / "Reflect", "ReflectXY", 4, adults=True)
    (one,) = read_kiva(tmp_path)
    assert one.x[0].name == "ReflectXY_4_train_input.png" and one.parameter == "ReflectXY"


def test_a_benchmark_is_counted_by_concept_and_parameter(kiva, glyph_model):
    save_kiva(kiva / "transformed objects/KiVA/Reflect", "ReflectY", 5)
    rows = run_benchmark(glyph_model, read_kiva(kiva)).rows()
    assert [(row.concept, row.parameter, row.puzzles) for row in rows] == [
        ("Reflect", "", 4),
        ("Reflect", "ReflectX", 3),
        ("Reflect", "ReflectY", 1),
        ("all", "", 4),
    ]
    low, high = rows[0].interval
    assert rows[0].right == 4 and rows[0].verified == 4 and low < 1 <= high + 1e-9
    assert rows[0].chance == pytest.approx(1 / 3, abs=1e-4) and rows[0].right_alone <= 4


def test_puzzles_in_folders_may_have_concepts_and_hints(tmp_path):
    first = save_folder(tmp_path / "one", 0)
    save_folder(tmp_path / "turned/two", 5)
    Image.new("L", (8, 8)).save(first / "x2.png")
    with pytest.raises(FineError, match="one has no 'y2'"):
        read_folder(tmp_path)
    Image.new("L", (8, 8)).save(first / "y2.png")
    one, two = read_folder(tmp_path)
    assert (one.name, one.concept, len(one.x)) == ("one", "", 2)
    assert (two.name, two.concept, len(two.x)) == ("turned/two", "turned", 1)
    assert two.answer == puzzle(5)[1]


def test_puzzles_may_be_in_a_table(tmp_path):
    folder = save_folder(tmp_path / "p", 3)
    answer = (folder / "answer.txt").read_text().strip()
    table = tmp_path / "puzzles.csv"
    names = ("x", "y", "new", *"abcd")
    cells = ",".join(f"p/{name}.png" for name in names)
    table.write_text(f"concept,{','.join(names)},answer\nmoved,{cells},{answer}\n")
    (one,) = read_folder(table)
    assert one.concept == "moved" and one.answer == puzzle(3)[1] and one.new == folder / "new.png"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "answer.txt").write_text("e"), "its answer is 'e'"),
        (lambda folder: (folder / "answer.txt").write_bytes(b"\xff"), "cannot be read"),
        (lambda folder: (folder / "new.png").unlink(), "has no 'new'"),
        (lambda folder: [(folder / f"{name}.png").unlink() for name in "abcd"], "of which there"),
        (lambda folder: (folder / "answer.txt").unlink(), "has no puzzles"),
    ],
)
def test_what_is_no_puzzle_is_refused_in_one_line(tmp_path, change, message):
    change(save_folder(tmp_path / "p", 0))
    with pytest.raises(FineError) as problem:
        read_folder(tmp_path)
    assert message in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize("read", [read_kiva, read_folder, read_arc])
def test_an_empty_or_missing_folder_is_refused(read, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FineError) as problem:
            read(path)
        assert str(path) in str(problem.value)


def test_a_record_has_a_source():
    assert all(0 < one.low <= one.high < 1 and "github.com" in one.source for one in RECORDS)
    assert find_record("kiva", "GPT-4V", "Counting") is None
    for model in OTHERS["kiva"]:
        assert find_record("kiva", model, "Resize") is not None


# ARC


def turned(grid: list) -> list:
    """A quarter turn to the left."""
    return [list(row) for row in zip(*grid, strict=True)][::-1]


def transposed(grid: list) -> list:
    return [list(row) for row in zip(*grid, strict=True)]


WIDE = [[0, 5, 5, 0, 0], [5, 0, 0, 7, 1]]
CHANGES = {
    "mirrored": lambda grid: [row[::-1] for row in grid],
    "upside-down": lambda grid: grid[::-1],
    "turned": turned,
    "half-turned": lambda grid: [row[::-1] for row in grid[::-1]],
    "transposed": transposed,
}


@pytest.mark.parametrize("change", CHANGES)
def test_arc_tasks_of_one_symmetry_come_out_in_every_cell(change, glyph_model, tmp_path):
    made = [
        {"input": grid, "output": CHANGES[change](grid)} for grid in (L, WIDE, [[1, 2], [3, 4]])
    ]
    (tmp_path / "abc.json").write_text(json.dumps({"train": made[:2], "test": made[2:]}))
    (task,) = read_arc(tmp_path)
    assert task.name == "abc" and task.is_geometric
    outcome = solve_arc(glyph_model, task)
    assert outcome.exact and outcome.grids[0] == task.test[0][1]


def test_other_arc_tasks_are_told_from_these(tmp_path):
    grown = {"input": L, "output": [[*row, 4] for row in L]}
    same = {"input": L, "output": L}
    mirror = {"input": L, "output": CHANGES["mirrored"](L)}
    tasks = {"grown": [grown], "same": [same], "mixed": [mirror, same], "mirror": [mirror]}
    content = {name: {"train": pairs, "test": pairs} for name, pairs in tasks.items()}
    (tmp_path / "all.json").write_text(json.dumps(content))
    found = {task.name: task.is_geometric for task in read_arc(tmp_path / "all.json")}
    assert found == {"grown": False, "same": False, "mixed": False, "mirror": True}


@pytest.mark.parametrize(
    "content",
    ["", "[]", "7", '{"train": []}', '{"train": [], "test": []}', '{"train": [{"input": [[1]]}]}']
    + [
        json.dumps({"train": [{"input": grid, "output": grid}], "test": []})
        for grid in ([], [[]], [[1], [1, 2]], [[10]], [[-1]], [[0] * 31], "x", [["x"]])
    ],
)
def test_what_is_no_arc_task_is_refused_in_one_line(content, tmp_path):
    (tmp_path / "task.json").write_text(content)
    with pytest.raises(FineError) as problem:
        read_arc(tmp_path)
    assert "task.json" in str(problem.value) and "\n" not in str(problem.value)
