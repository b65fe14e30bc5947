"""`fine submit` writes the entry of a run that passes all checks, and nothing otherwise."""

import pytest

from fine.experiments import Ledger
from support.commands import change_config


@pytest.mark.slow
def test_a_run_is_submitted_once(fine, refused, run, workplace):
    assert "use one of the protocols" in refused("submit", run)  # its batch is its own
    change_config(run, training={"epochs": 2})
    code, out, err = fine("submit", run, "--results", "results")
    assert code == 0, err
    assert "tested again: " in out and "no leaderboard shows it" in out and "SHA-256" in out
    (record,) = Ledger(workplace / "results/ledger").records()
    assert record.weights in out and record.model == "fine"
    assert "is there already" in refused("submit", run, "--results", "results")


def test_a_folder_that_is_no_run_is_refused(refused, workplace):
    assert "is not a run folder" in refused("submit", workplace)
