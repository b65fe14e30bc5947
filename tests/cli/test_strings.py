"""Commands about letter strings: puzzles, evaluations, answers, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fine.models.string_encoder import PLACE, STRING_SETTINGS
from fine.puzzles import Task
from fine.rules.strings import string_rules
from fine.training import RunConfig, Training, train

ALL = ("--task", "strings", "--rules", "all")


@pytest.fixture(scope="module")
def string_run(tmp_path_factory) -> Path:
    """A tiny run on strings."""
    folder = tmp_path_factory.mktemp("runs") / "strings"
    task = replace(Task.preset("strings", rules="all"), train_count=64, test_count=20)
    settings = {**STRING_SETTINGS, "embedding_size": 2 * PLACE, "slots": 4}
    train(RunConfig(task=task, training=Training(epochs=1), settings=settings), folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", ["strings", "strings-longer", "strings-letters", "strings-permuted"]
)
def test_a_run_on_strings_is_evaluated_on_other_strings(fine, string_run, task):
    code, out, _ = fine("evaluate", string_run, "--task", task, "--test-count", 50)
    assert code == 0 and "50 test puzzles, all" in out


def test_the_oracle_solves_strings(fine):
    assert "100.0%" in fine("evaluate", "oracle", "--task", "strings", "--test-count", 50).out


def test_puzzles_over_strings_are_written(fine):
    code, out, _ = fine("puzzles", *ALL, "--count", 2, "--answers", "--out", "sheet.svg")
    task = replace(Task.preset("strings", rules="all"), test_count=1)
    x, y, new, *choices = task.test_puzzles().texts([0])[0]
    assert code == 0 and f"{x} → {y}" in out and f"{new} → ?" in out
    assert all(choice in out for choice in choices)
    sheet = Path("sheet.svg").read_text(encoding="utf-8")
    assert all(text in sheet for text in (x, y, new))


def test_solve_writes_the_answer(fine):
    code, out, _ = fine("solve", "--text", "abc", "abd", "mmnnpp")
    assert code == 0 and "mmnnpp → mmnnqq" in out


def test_solve_ranks_all_rules_in_json(fine):
    content = json.loads(fine("solve", "--text", "abc", "cba", "kjihg", "--json").out)
    assert content["model"] == "all-strings" and content["answer"] == "ghijk"
    rules = content["rules"]
    assert len(rules) == len(string_rules("all"))
    assert sum(rule["probability"] for rule in rules) == pytest.approx(1)
    assert {rule["rule"] for rule in rules if rule["explains"]} >= {"reverse"}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("abc", "abD", "x"), "y 'abD' has the unknown letter 'D': use a to z"),
        (("abc", "", "x"), "y '' has 0 letters: give 1 to 16"),
        (("abc", "abd", "x" * 17), "has 17 letters: give 1 to 16"),
        (("abc", "abd"), "2 strings are given: expected 3"),
    ],
)
def test_a_string_that_cannot_be_read_is_refused(refused, texts, message):
    assert message in refused("solve", "--text", *texts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "--text", "abc", "abd", "mnp", "--model", "all-glyphs"), "reads images, not"),
        (("solve", "a.png", "b.png", "--text", "a", "b", "c"), "give no images"),
        (("puzzles", *ALL[:2], "--rules", "affine"), "unknown rules of strings 'affine'"),
        (("puzzles", *ALL[:2], "--rules", "reverse"), "has 1 rule"),
        (("puzzles", *ALL[:2], "--rules", "all:unseen"), "unknown split of string rules"),
        (("puzzles", *ALL, "--size", 28), "strings cannot have size 28"),
        (("evaluate", "oracle", "--task", "strings", "--hints", 2), "leave out --variant"),
        (("train", *ALL, "--augment-images"), "augment_images is for images"),
        (("train", *ALL, "--augment-puzzles", 4), "augment_puzzles is for images"),
        (("train", *ALL, "--conjugate", 0.5), "conjugate is for images"),
    ],
)
def test_what_strings_cannot_do_is_refused(refused, arguments, message):
    assert message in refused(*arguments)
