"""The worker: a cell resumes from wherever its run is, and nothing is trained twice."""

from dataclasses import replace

import pytest

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.experiments import Cell
from fine.experiments.worker import as_text, attempt, find_trained, from_text, run_cell
from fine.puzzles.task import Task
from fine.training import Run
from support.experiments import FOUR, tiny
from support.runs import stop_after

pytestmark = pytest.mark.usefixtures("workplace")


def test_a_cell_is_sent_as_a_line(tmp_path):
    text = as_text(FOUR[3], tmp_path, "cpu")
    assert "\n" not in text and from_text(text) == (FOUR[3], tmp_path, "cpu")


def test_a_continual_cell_is_sent_with_its_strategy(tmp_path):
    config = ContinualConfig(task=Task.preset("glyphs", rules="all"), strategy="plain")
    assert from_text(as_text(Cell(config), tmp_path, "cpu"))[0] == Cell(config)


def test_errors_are_answers(tmp_path):
    assert "Error" in attempt("no JSON", print)["error"]
    bad = Cell(replace(FOUR[0].config, model="gpt"))
    text = as_text(FOUR[0], tmp_path, "cpu").replace('"fine"', '"gpt"')
    assert bad.config.model == "gpt" and "unknown model 'gpt'" in attempt(text, print)["error"]


@pytest.mark.slow
def test_a_cell_resumes_from_wherever_its_run_is(workplace):
    cell = tiny(epochs=2)
    whole = run_cell(cell, workplace / "whole")
    assert run_cell(cell, workplace / "whole") == whole, "a finished run is not run again"
    half = workplace / "half"
    assert stop_after(1, cell.config, half).checkpoint.exists()
    resumed = run_cell(cell, half)
    assert resumed["curve"] == whole["curve"] and len(whole["curve"]) == 2
    for outcome in (whole, resumed):
        del outcome["result"]["minutes"]
    assert resumed == whole
    with pytest.raises(FineError, match="holds another run"):
        run_cell(tiny(seed=5), half)


@pytest.mark.slow
def test_a_run_that_was_trained_already_is_only_tested_again(tmp_path):
    first = tiny()
    task = replace(first.config.task, test_count=9)
    second = Cell(replace(first.config, task=task))
    folders = [tmp_path / "work" / cell.key for cell in (first, second)]
    trained, tested = map(run_cell, (first, second), folders)
    assert trained["result"]["minutes"] > 0 == tested["result"]["minutes"]
    assert tested["result"]["puzzles"] == 9
    elsewhere = tmp_path / "elsewhere" / second.key
    alone = run_cell(second, elsewhere)
    assert alone["result"]["by_rule"] == tested["result"]["by_rule"]
    assert alone["curve"] == tested["curve"]
    weights = {Run(folder).weights.read_bytes() for folder in (*folders, elsewhere)}
    assert len(weights) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "other", [tiny(seed=1), tiny(epochs=2), tiny(train_count=24), tiny(model="relation-net")]
)
def test_a_run_that_was_trained_otherwise_is_not_reused(tmp_path, other):
    run_cell(tiny(), tmp_path / "work" / "one")
    assert find_trained(tiny().config, tmp_path / "work" / "two") is not None
    assert find_trained(other.config, tmp_path / "work" / "two") is None
