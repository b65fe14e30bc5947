"""Every promise of docs/reliability.md and SECURITY.md names tests, and they are there."""

import ast
import re
from pathlib import Path

import pytest

from fine.images.limits import PIXEL_LIMIT
from fine.images.official import LARGEST_FILE
from fine.io.files import LARGEST_JSON
from fine.io.tables import MOST_CELLS, MOST_ROWS
from fine.models.registry import LARGEST_MODEL
from fine.training.run import MOST_PUZZLES

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(?P<file>tests/[\w/]+\.py)?::(?P<test>\w+)`")


def promises() -> dict[str, str]:
    """The first words of each promise -> its text."""
    tables = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*\*.+$", tables, re.MULTILINE)
    policy = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    items = re.findall(r"^- .+(?:\n  .+)*", policy.partition("**Trusted**")[0], re.MULTILINE)
    return {text.strip("|- *")[:40]: text for text in (*rows, *items)}


PROMISES = promises()


def tests_of(file: str) -> set[str]:
    """The names of the tests in a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {function.name for function in functions if function.name.startswith("test_")}


@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_a_promise_names_tests_that_exist(promise):
    named = list(NAMED.finditer(promise))
    assert named and named[0]["file"], "a promise without a test"
    file = ""
    for match in named:
        file = match["file"] or file
        assert match["test"] in tests_of(file), match[0]


def test_there_are_promises():
    assert len(PROMISES) > 30 and any("run code" in name for name in PROMISES)


@pytest.mark.parametrize(
    ("limit", "unit", "words"),
    [
        (PIXEL_LIMIT, 1_000_000, "{} megapixels for an image"),
        (LARGEST_FILE, 1_000_000, "{} MB for a download"),
        (LARGEST_JSON, 1_000_000, "{} MB for a JSON file"),
        (LARGEST_MODEL, 1_000_000, "{} million numbers for a model"),
        (MOST_PUZZLES, 1_000_000, "{} million puzzles for a task"),
        (MOST_ROWS, 1_000, "{},000 rows and"),
        (MOST_CELLS, 1_000_000, "{} million cells for a table"),
    ],
)
def test_the_limits_are_those_of_the_code(limit: int, unit: int, words: str) -> None:
    page = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    assert words.format(limit // unit) in page
