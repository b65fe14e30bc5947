"""The names that `fine` exports are there, and the example in its docstring runs."""

import subprocess
import sys
import textwrap

import pytest

import fine

PROMISED = (
    *("FINE", "FINEConfig", "FineError", "Images", "Puzzles", "Run", "RunConfig", "Task"),
    *("Training", "PROTOCOLS", "Evaluation", "Answer", "Drawn", "Function", "NamedRule"),
    *("load", "solve", "solve_many", "solve_text", "explain", "function", "draw_answer"),
    *("read_image", "load_images", "rule_set", "register_family", "register_model"),
    *("make_model", "draw_puzzles", "draw_sheet", "show", "train", "resume", "evaluate"),
)


def test_every_public_name_is_there():
    assert len(set(fine.__all__)) == len(fine.__all__)
    assert all(hasattr(fine, name) for name in fine.__all__)
    assert set(PROMISED) <= set(fine.__all__)


@pytest.mark.slow
def test_the_example_in_the_docstring_runs():
    lines = fine.__doc__.splitlines()
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer, rules, again = done.stdout.splitlines()
    assert answer.startswith("Answer(index=") and "rotation" in rules
    assert again.endswith("matrix inverse") or again.endswith("with a ridge")
