"""Benchmarks in the ledger: written whole, read as they were, apart from the cells."""

import json

import pytest

from fine.benchmarks import BenchmarkRow
from fine.errors import FineError
from fine.experiments import Ledger
from fine.experiments.benchmark_ledger import (
    FOLDER,
    BenchmarkLedger,
    benchmark_key,
    benchmark_records,
)

ABOUT = {"benchmark": "kiva", "data": "KiVA", "model": "universal", "weights": "ab" * 32}


def row(concept, parameter="", puzzles=50, right=40):
    return BenchmarkRow(concept, parameter, puzzles, right, right - 5, 30, 1 / 3)


@pytest.fixture
def records():
    rows = [row("Reflect", puzzles=100, right=90), row("Reflect", "X"), row("Reflect", "Y", 50, 50)]
    return benchmark_records([*rows, row("Resize"), row("all", puzzles=150)], **ABOUT)


@pytest.fixture
def ledger(tmp_path, records):
    made = BenchmarkLedger(tmp_path / FOLDER)
    for record in records:
        made.write(record)
    return made


def test_there_is_a_record_for_each_concept(records):
    assert [record.concept for record in records] == ["Reflect", "Resize"]
    reflect = records[0]
    assert (reflect.accuracy, reflect.accuracy_alone) == (0.9, 0.85)
    assert reflect.interval[0] < 0.9 < reflect.interval[1] and reflect.commit
    assert [inner["parameter"] for inner in reflect.parameters] == ["X", "Y"]


def test_a_benchmark_without_concepts_has_one_record():
    (record,) = benchmark_records([row("")], **ABOUT)
    assert record.concept == "all" and record.puzzles == 50


def test_records_are_read_as_they_were_written(ledger, records):
    assert ledger.records() == sorted(records, key=lambda record: record.key)


def test_a_benchmark_that_is_run_again_replaces_its_record(ledger):
    (again,) = benchmark_records([row("Resize", right=50)], **ABOUT)
    ledger.write(again)
    assert len(ledger.records()) == 2 and again in ledger.records()


def test_keys_are_stable_and_differ_where_records_do():
    key = benchmark_key(concept="2DRotation", **ABOUT)
    assert key == "kiva_kiva_2drotation_universal_21850a33"
    others = [
        {**ABOUT, "data": "KiVA-adults"},
        {**ABOUT, "model": "runs"},
        {**ABOUT, "weights": "cd" * 32},
        {**ABOUT, "data": "kiva"},  # the same words in a file's name
    ]
    assert len({key, *(benchmark_key(concept="2DRotation", **other) for other in others)}) == 5


def test_the_ledger_of_cells_does_not_see_them(ledger):
    assert Ledger(ledger.folder.parent).entries() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": 101}, "right is 101 of 100"),
        ({"puzzles": "many"}, "puzzles is 'many'"),
        ({"interval": [0.95, 0.99]}, "its interval is from 0.95"),
        ({"chance": 2}, "its chance is 2"),
        ({"format": 9}, "its format is 9"),
        ({"surprise": 1}, "'surprise', which is not known"),
        ({"key": "another"}, "holds the record of another"),
    ],
)
def test_a_broken_record_is_refused_in_one_line(ledger, records, change, message):
    path = ledger.path(records[0].key)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FineError, match=message) as problem:
        ledger.records()
    assert "\n" not in str(problem.value) and "delete it" in str(problem.value)
