"""Means over seeds, whatever the records of the seeds hold."""

from dataclasses import replace

import pytest

from fine.experiments import Comparison, Ledger, compare, make_experiment
from fine.experiments.records import Epoch
from fine.report import html_page
from fine.report.facts import Facts, curve
from support.experiments import ROTATION, recorded

CURVES = {0: (0.2, 0.4, 0.6), 1: (0.4, 0.6), 2: ()}


@pytest.fixture
def comparison(tmp_path) -> Comparison:
    """Table 1 with three seeds of one place, whose curves have different lengths."""
    ledger = Ledger(tmp_path / "ledger")
    for seed, accuracies in CURVES.items():
        epochs = tuple(Epoch(1.0, accuracy) for accuracy in accuracies)
        machine = "x86_64, 1 threads" if seed else "x86_64, 1 thread"
        record = replace(recorded(ROTATION.with_seed(seed)), curve=epochs, machine=machine)
        ledger.write(record)
    return compare(make_experiment("table1"), ledger)


def test_an_epoch_is_the_mean_over_the_seeds_that_have_it(comparison):
    entry = comparison.entry("esbn", "rotation")
    assert len(entry.records) == 3
    assert curve(entry) == pytest.approx([30, 50, 60])
    assert curve(replace(entry, records=())) == []


def test_the_page_shows_curves_of_different_lengths(comparison):
    assert "rotation, after 3 epochs: 60.0" in html_page([comparison])


def test_one_thread_is_one_however_a_record_says_it(comparison):
    assert Facts(comparison).named["machine"] == "x86_64, 1 thread"
