"""The second tables and figures of `continual` and `memory` say what the ledger says."""

from PIL import Image

from fine.experiments import compare, make_experiment
from fine.experiments.supplements import draw_figure, further_table, memory_numbers
from fine.rules import rule_set
from support.experiments import recorded


def stages(kept: float, unseen: float) -> list[dict[str, object]]:
    """Nine stages: a family is known at 90 % once learned, then at ``kept``; ``unseen`` before."""
    families = list(rule_set("all").families)
    rows = []
    for stage, family in enumerate(families):
        known = {
            name: unseen if number > stage else kept if number < stage else 0.9
            for number, name in enumerate(families)
        }
        rows.append({"family": family, "accuracy": known})
    return rows


def test_figures_of_continual_learning_are_those_of_the_stages(ledger, tmp_path):
    experiment = make_experiment("continual")
    joint, anchor = (experiment.place(row, "omniglot").cell for row in ("joint", "anchor"))
    ledger.write(recorded(joint, 0.95))
    ledger.write(recorded(anchor, 0.88, stages=stages(kept=0.87, unseen=0.6)))
    comparison = compare(experiment, ledger)
    table = further_table(comparison)
    # 95 − 88 below joint; 90 − 87 forgotten; 60 − 50 known before it is learned.
    assert "| Omniglot | anchor | 88.0 ± 3.2 | 7.0 | 3.0 | 10.0 | 1 | 1.5 |" in table
    assert "| Omniglot | joint | 95.0 ± 2.2 | 0.0 | – | – | 1 | 1.5 |" in table
    assert "plain" not in table
    assert draw_figure(comparison, tmp_path / "continual.png")
    with Image.open(tmp_path / "continual.png") as image:
        assert image.size[0] > 500


def test_numbers_of_a_memory_are_counted_for_every_form(ledger, tmp_path):
    experiment = make_experiment("memory")
    comparison = compare(experiment, ledger)
    assert not draw_figure(comparison, tmp_path / "memory.png")
    full, small = (experiment.place(row, "64 rows").cell for row in ("full", "rank-4"))
    # 4 slots of 64 × 64, values and keys; of rank 4 they have 2 · 64 · 4 numbers each.
    assert memory_numbers(full.config) == 2 * 4 * 64 * 64
    assert memory_numbers(small.config) == 2 * 4 * 2 * 64 * 4
    assert "| 64 rows | rank-4 | 4,096 | 12% | · | · |" in further_table(comparison)
    ledger.write(recorded(small, 0.9))
    assert draw_figure(compare(experiment, ledger), tmp_path / "memory.png")


def test_a_run_that_was_only_tested_has_no_speed(ledger, tmp_path):
    experiment = make_experiment("memory")
    ledger.write(recorded(experiment.place("full", "16 rows").cell, 0.9, minutes=0.0))
    comparison = compare(experiment, ledger)
    (row,) = (line for line in further_table(comparison).splitlines() if "| full | 4,096" in line)
    assert "90.0 ± " in row and row.endswith("| · |")
    assert draw_figure(comparison, tmp_path / "memory.png")


def test_other_experiments_have_no_second_table(ledger, tmp_path):
    comparison = compare(make_experiment("table1"), ledger)
    assert further_table(comparison) == ""
    assert not draw_figure(comparison, tmp_path / "table1.png")
