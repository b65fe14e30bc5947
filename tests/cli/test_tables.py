"""A table that is wider than the terminal comes in pieces, and no word of it is cut."""

import pytest

from fine.cli import tables
from fine.cli.tables import print_in_pieces
from fine.cli.terminal import PlainConsole


@pytest.mark.parametrize(("width", "pieces"), [(40, 9), (80, 3), (200, 1)])
def test_a_wide_table_comes_in_pieces_with_no_name_cut(monkeypatch, capsys, width, pieces):
    columns = {f"a {'column' * (number % 3 + 1)}-{number}": ["1", "2.5"] for number in range(9)}
    console = PlainConsole()
    console.width = width
    monkeypatch.setattr(tables, "console", console)
    print_in_pieces("a model", columns, ["relation-net", "and fine"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert out.count("relation-net") == pieces and "…" not in out
    assert all(out.count(name.split()[1]) == 1 for name in columns)
