"""The leaderboard: every record of a table's tasks counts, in lines that are trained alike."""

import random
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from fine.experiments import Cell, Ledger, make_experiment
from fine.experiments.leaderboard import leaderboard
from fine.models import make_model
from support.reports import random_record

TABLE = make_experiment("table1")


def record_of(cell: Cell, seed: int = 0):
    cell = cell.with_seed(seed)
    return random_record(cell, random.Random(cell.key))


def board(*records):
    (made,) = leaderboard(records, ("table1",))
    return made


def changed(place, **changes):
    return Cell(replace(place.cell.config, **changes))


@pytest.mark.slow  # torch imports a lot to count parameters
def test_a_line_is_one_model_trained_in_one_way():
    esbn = [
        record_of(place.cell, seed) for place in TABLE.select(models=["esbn"]) for seed in (0, 1)
    ]
    place = TABLE.place("esbn", "rotation")
    longer = record_of(changed(place, training=replace(place.cell.config.training, epochs=7)))
    small = record_of(changed(place, settings={"key": 8}))
    unheard = replace(record_of(changed(place, model="transformer")), model="of-a-plug-in")
    made = board(*esbn, longer, small, unheard)
    first, *others = made.lines
    assert first.complete and first.seeds == (2,) * 10 and made.columns == TABLE.columns
    values = [record.value for record in esbn]
    assert first.mean == pytest.approx(100 * statistics.mean(values))
    assert first.minutes == pytest.approx(statistics.mean(record.minutes for record in esbn))
    built = make_model("esbn", channels=1, size=32)
    assert set(first.parameters) == {sum(weight.numel() for weight in built.parameters())}
    assert {(line.model, line.settings, line.training) for line in others} == {
        ("esbn", "", "quick, 7 epochs"),
        ("esbn", "key=8", "quick, 6 epochs"),
        ("of-a-plug-in", "", "quick, 6 epochs"),
    }
    assert not any(line.complete for line in others)
    assert [line.parameters for line in others if line.model == "of-a-plug-in"] == [()]


def test_complete_lines_come_first_then_by_their_mean():
    records = [record_of(place.cell) for place in TABLE.places]
    worst = replace(record_of(TABLE.place("esbn", "wave").cell, 5), value=0.0)
    lone = replace(record_of(TABLE.place("fine", "wave").cell), model="vit", settings={}, value=1.0)
    lines = board(*records, worst, lone).lines
    assert [line.complete for line in lines] == [True] * 9 + [False]
    means = [line.mean for line in lines[:9]]
    assert means == sorted(means, reverse=True) and lines[9].model == "vit"


@pytest.mark.parametrize("order", [1, -1])
def test_the_settings_that_a_table_chose_stand_for_its_line(order):
    place = TABLE.place("fine", "wave")
    assert place.cell.settings
    chosen, plain = record_of(place.cell), record_of(changed(place, settings={}), 1)
    (line,) = board(*(chosen, plain)[::order]).lines
    assert line.columns == {"wave": (chosen,)} and not line.settings
    (line,) = board(plain).lines
    assert line.columns == {"wave": (plain,)}


def test_other_tasks_probes_and_strategies_do_not_count():
    place = TABLE.place("esbn", "wave")
    config = place.cell.config
    fewer = record_of(changed(place, task=replace(config.task, train_count=5)))
    probed = replace(record_of(place.cell), probe={"name": "x"})
    assert board(fewer, probed, replace(record_of(place.cell), strategy="grow")).lines == ()


def test_a_run_that_started_from_a_trained_encoder_has_a_line_of_its_own():
    plain = record_of(TABLE.place("esbn", "wave").cell)
    helped = replace(plain, trained_encoder=True, value=1.0)
    lines = board(plain, helped).lines
    assert [line.seeds for line in lines] == [(1,), (1,)]
    assert lines[0].training.endswith("from the encoder of another run")


@pytest.mark.parametrize("model", ["vit", "fine-pyramid"])
def test_a_model_without_an_encoder_is_in_no_column_of_encoders(model):
    place = make_experiment("table3").place("esbn", "p4-cnn")
    own = replace(record_of(place.cell), model=model, settings={})
    (board_of_encoders,) = leaderboard([own], ("table3",))
    assert board_of_encoders.lines == ()


def test_every_result_of_the_tables_in_the_ledger_is_on_a_board():
    folder = Path(__file__).parents[2] / "results/ledger"
    if not folder.is_dir():
        pytest.skip("the ledger is not part of a source distribution")
    ledger = Ledger(folder)
    records = [
        r
        for name in ("table3", "table4")
        for p in make_experiment(name).places
        for r in ledger.seeds(p.cell)
    ]
    boards = leaderboard(records, ("table3", "table4"))
    shown = {r.key for b in boards for line in b.lines for rs in line.columns.values() for r in rs}
    assert shown == {record.key for record in records}
