"""The names that `fine` exports are there once they are used, and its own example runs."""

import ast
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

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


def test_what_type_checkers_see_is_what_python_finds():
    imported = {}
    for node in ast.walk(ast.parse(Path(fine.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("fine."):
            imported |= {alias.name: node.module for alias in node.names}
    assert imported.keys() == {*fine.__all__}
    for name, module in imported.items():
        assert getattr(fine, name) is getattr(import_module(module), name)
    at_once = {"FineError": "errors", "__version__": "version"}
    homes = {name: f"fine.{home}" for name, home in {**fine._HOME_OF, **at_once}.items()}
    assert imported == homes


def test_all_names_are_listed_and_others_are_refused():
    assert {*fine.__all__, "pretrained", "images"} <= {*dir(fine)}
    assert fine.pretrained.names() and fine.images.load_images is fine.load_images
    with pytest.raises(AttributeError, match="module 'fine' has no attribute 'sovle'"):
        fine.sovle  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'sovle'"):
        exec("from fine import sovle")


@pytest.mark.slow
def test_importing_fine_does_not_wait_for_torch():
    program = "import sys, fine; dir(fine), fine.FineError, fine.__version__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    imported = set(done.stdout.split())
    assert "fine.errors" in imported and not imported & {"torch", "numpy", "PIL", "rich"}


@pytest.mark.slow
def test_the_example_in_the_docstring_runs(warm_python):
    lines = fine.__doc__.splitlines()
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))
    done = warm_python.run("-c", code)
    assert done.returncode == 0, done.stderr
    answer, rules, again = done.stdout.splitlines()
    assert answer.startswith("Answer(index=") and "rotation" in rules
    assert again.endswith("matrix inverse") or again.endswith("with a ridge")
