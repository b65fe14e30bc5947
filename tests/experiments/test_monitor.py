"""The monitor shows what is going on: a live table in a terminal, lines elsewhere."""

import time

import pytest
from rich.console import Console

from fine.experiments.monitor import TerminalMonitor
from fine.experiments.runner import run_cells
from support.experiments import FOUR, FakeExecutor


@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_going_on_is_shown(tmp_path, ledger, terminal, monkeypatch):
    failing, good, _, hanging = (cell.key for cell in FOUR)
    executor = FakeExecutor(failing=(failing,), hanging=(hanging,))
    monkeypatch.setattr(time, "monotonic", lambda: executor.waited)  # waiting is all that lasts
    with (tmp_path / "seen").open("w+", encoding="utf-8") as file:
        console = Console(file=file, force_terminal=terminal, width=120)
        with TerminalMonitor(console, FOUR, [], jobs=2, budget=60) as monitor:
            summary = run_cells(FOUR, ledger, executor, monitor=monitor, budget=0.6)
        file.seek(0)
        seen = file.read()
    assert len(summary.left) == 1
    assert f"{failing}  it broke" in seen and f"{good}  accuracy 50.0%" in seen
    shows_table = "3 of 4 cells done, 0 waiting" in seen and "stops in" in seen
    assert shows_table == terminal
