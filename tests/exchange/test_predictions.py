"""Answers of any program are scored as those of a model are."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fine.errors import FineError
from fine.evaluation import Evaluation
from fine.evaluation.metrics import wilson
from fine.exchange import evaluate_predictions, export_puzzles

COUNT = 40
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def puzzles(task):
    return replace(task, test_count=COUNT).test_puzzles()


@pytest.fixture(scope="module")
def exported(task, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "puzzles.npz"
    export_puzzles(task, path, count=COUNT)
    return path


def table(path: Path, rows) -> Path:
    path.write_text("number,answer\n" + "".join(f"{number},{word}\n" for number, word in rows))
    return path


def test_scores_are_those_of_an_evaluation(puzzles):
    chosen = np.random.default_rng(0).integers(4, size=COUNT)
    letters = {number: "ABCD"[place] for number, place in enumerate(chosen)}
    predictions = evaluate_predictions(letters, puzzles)
    evaluation = Evaluation(puzzles, chosen, np.full((COUNT, 4), 0.25, dtype=np.float32))
    assert predictions.accuracy == evaluation.accuracy
    assert predictions.interval == evaluation.interval
    assert {**evaluation.mistakes, "no answer": 0} == predictions.mistakes
    by_rule = sorted(predictions.by_rule(), key=lambda row: row["rule"])
    expected = sorted(evaluation.by_rule(), key=lambda row: row["rule"])
    assert by_rule == [{**row, "no answer": 0} for row in expected]


def test_no_answer_is_wrong(puzzles):
    letters = {number: "ABCD"[place] for number, place in enumerate(puzzles.answers)}
    some = {number: letter if number % 4 else " " for number, letter in letters.items()}
    predictions = evaluate_predictions(some, puzzles)
    assert predictions.accuracy == 0.75 and predictions.mistakes["no answer"] == 0.25


@pytest.mark.slow
def test_a_file_of_answers_is_scored_beside_chance_and_controls(exported, tmp_path, fine):
    right = np.load(exported)["answer"]
    answers = table(tmp_path / "answers.csv", enumerate(letter.lower() for letter in right))
    code, out, _ = fine("score", answers, exported, "--by-rule", "--json", tmp_path / "s.json")
    low = wilson(COUNT, COUNT)[0]
    assert code == 0 and "accuracy" in out and f"95 % interval {low:.1%} – 100.0%" in out
    for level in ("25.0%", "50.0%", "oracle", "pixels", "rotation 90°"):
        assert level in out
    assert '"accuracy": 1.0' in (tmp_path / "s.json").read_text()


@pytest.mark.slow
def test_two_files_of_answers_are_compared(exported, tmp_path, fine):
    right = np.load(exported)["answer"]
    answers = table(tmp_path / "answers.csv", enumerate(right))
    guesses = table(tmp_path / "guesses.csv", ((number, "A") for number in range(COUNT)))
    code, out, _ = fine("score", answers, exported, "--against", guesses)
    alone = int((right != "A").sum())
    assert code == 0 and f"+{100 * alone / COUNT:.1f}" in out and "p < 0.001" in out
    assert f"{alone} " in out and "0 by the other alone" in out


@pytest.mark.slow
def test_a_program_with_numpy_alone_solves_exported_puzzles(exported, tmp_path):
    program = f"""
import runpy, sys
sys.argv[1:] = {[str(exported), str(tmp_path / "answers.csv")]}
runpy.run_path({str(EXAMPLES / "numpy_only.py")!r}, run_name="__main__")
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not {*done.stdout.split()} & {"fine", "torch", "jax", "PIL"}
    # All 40 are right; chance would be 10.
    assert evaluate_predictions(tmp_path / "answers.csv", exported).accuracy > 0.95


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has the columns (none)"),
        ("puzzle,answer\n0,A\n", "has the columns puzzle, answer: expected 'number' and 'answer'"),
        ("number,answer\nx,A\n", "line 2 of answers.csv has the number 'x'"),
        ("number,answer\n0,A\n0,B\n", "answers puzzle 0 twice"),
        ("number,answer\n0,A\n", "puzzle 1 has no row"),
        ("number,answer\n" + "".join(f"{n},A\n" for n in range(41)), "there is no puzzle 40"),
        ("number,answer\n" + "".join(f"{n},E\n" for n in range(40)), "a letter from A to D"),
    ],
)
def test_other_answers_are_refused(puzzles, tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text(text)
    with pytest.raises(FineError) as refusal:
        evaluate_predictions("answers.csv", puzzles)
    assert message in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_table_of_a_spreadsheet_is_read(puzzles, tmp_path):
    rows = "".join(f"{number}, A\r\n" for number in range(COUNT))
    (tmp_path / "a.csv").write_bytes(f"\ufeffnumber, answer\r\n{rows}".encode())
    assert evaluate_predictions(tmp_path / "a.csv", puzzles).key.letters == "ABCD"


def test_a_missing_file_is_refused(puzzles, tmp_path):
    with pytest.raises(FineError, match="is not there: give a CSV file"):
        evaluate_predictions(tmp_path / "no.csv", puzzles)


def test_a_column_without_a_name_shifts_no_other(exported, tmp_path):
    plain, odd = tmp_path / "plain.csv", tmp_path / "odd.csv"
    plain.write_text("number,answer\n" + "".join(f"{n},A\n" for n in range(COUNT)))
    odd.write_text("\ufeff,number,,answer\n" + "".join(f"x,{n},y,A\n" for n in range(COUNT)))
    one, other = (evaluate_predictions(path, exported) for path in (plain, odd))
    assert (one.chosen == other.chosen).all() and (one.chosen == 0).all()
