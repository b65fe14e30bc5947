"""A bench is kept as it is, compared with an earlier one, and refused if it is none."""

import json
from dataclasses import replace

import pytest

from fine.bench import Bench, Measured, read_bench
from fine.errors import FineError

SPEED = Measured(
    "speed", "Speed", "model", {"fine": {"puzzles/s": 300.0, "share %": 0.0}}, "a note"
)
KEPT = Bench({"commit": "one"}, 2.5, (SPEED,))


def test_a_bench_is_kept_as_it_is(tmp_path):
    KEPT.save(tmp_path / "bench.json")
    assert read_bench(tmp_path / "bench.json") == KEPT


def test_ratios_are_to_what_was_measured_then():
    rows = {"fine": {"puzzles/s": 450.0, "share %": 3.0}, "new": {"puzzles/s": 1.0}}
    faster = Measured("speed", "Speed, in other words", "model", rows)
    (ratios,) = replace(KEPT, tables=(faster, replace(faster, name="growth"))).against(KEPT)
    assert ratios.rows == {"fine": {"puzzles/s": 1.5}}


def test_a_bench_of_format_1_is_read(tmp_path):
    tables = [{"title": f"table {number}", "of": "setting", "rows": {}} for number in range(4)]
    tables[3]["rows"] = {"code 64": {"step, ms": 20.0}, "slots 2": {"step, ms": 10.0}}
    old = {"format": 1, "made_by": {"commit": "one"}, "seconds": 2.5, "tables": tables}
    (tmp_path / "bench.json").write_text(json.dumps(old))
    bench = read_bench(tmp_path / "bench.json")
    assert [table.name for table in bench.tables] == ["speed", "parts", "processor", "growth"]
    assert [*bench.table("growth").rows] == ["embedding_size 64", "slots 2"]


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"format": 1},
        {"format": 1, "made_by": {}, "seconds": "2", "tables": []},
        {"format": 1, "made_by": {}, "seconds": 2.0, "tables": [3]},
        {"format": 2, "made_by": {}, "seconds": 2.0, "tables": [{"name": "speed"}]},
        {"format": 3},
    ],
)
def test_a_file_that_is_no_bench_is_refused(content, tmp_path):
    (tmp_path / "bench.json").write_text(json.dumps(content))
    with pytest.raises(FineError, match=r"is no bench.*`fine bench --out`"):
        read_bench(tmp_path / "bench.json")
