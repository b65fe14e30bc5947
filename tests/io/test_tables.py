"""Tables in CSV files."""

from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io.tables import LARGEST_TABLE, MOST_ROWS, parse_table, read_table, read_table_text
from support.fuzzing import limits
from support.odd_files import odd_files, without_waiting


def test_rows_come_by_the_names_in_the_first(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('epoch,loss\n1,0.5\n2,"0,25"\n')
    assert read_table(tmp_path / "x.csv") == [
        {"epoch": "1", "loss": "0.5"},
        {"epoch": "2", "loss": "0,25"},
    ]
    assert read_table_text(tmp_path / "x.csv").startswith("epoch,loss\n")


@odd_files
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make) -> None:
    make(tmp_path / "x.csv")
    with without_waiting(), pytest.raises((FineError, OSError), match=r"x\.csv"):
        read_table(tmp_path / "x.csv")


@pytest.mark.slow
def test_a_table_of_many_short_rows_keeps_to_the_limits(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n" + "1\n" * MOST_ROWS)
    with limits():
        assert len(read_table(tmp_path / "x.csv")) == MOST_ROWS
    (tmp_path / "x.csv").write_text("a\n" + "1\n" * (MOST_ROWS + 1))
    with pytest.raises(ValueError, match="it has more than 250,000 rows of 1 cells"):
        read_table(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("1" * (LARGEST_TABLE + 1))
    with pytest.raises(FineError, match="has 3,000,001 bytes: expected a table of at most"):
        read_table(tmp_path / "x.csv")


def test_short_rows_under_many_columns_keep_to_the_limits() -> None:
    """Each has a cell for every column: these would be forty thousand million."""
    columns = ",".join(map(str, range(100_000)))
    with limits(), pytest.raises(ValueError, match="it has more than 30 rows of 100000 cells"):
        parse_table(columns + "\n" + "1\n" * 400_000)


def test_a_cell_that_python_does_not_read_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="field larger than field limit"):
        parse_table("a\n" + "1" * 200_000)
