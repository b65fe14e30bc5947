"""Tables of probes: each asks a known measure about a run that is trained once."""

from pathlib import Path

import pytest

from fine.experiments import make_experiment
from fine.experiments.measures import MEASURES
from fine.experiments.probe_tables import PROBE_TABLES
from fine.experiments.probes import METRIC_OF
from fine.experiments.worker import as_text, from_text
from fine.puzzles.variants import PLAIN


@pytest.mark.parametrize("name", PROBE_TABLES)
def test_a_table_is_made_of_probes_of_known_measures(name):
    for place in make_experiment(name).places:
        cell, probe = place.cell, place.cell.probe
        if probe is None:  # a run whose own test is the variant
            assert cell.config.variant != PLAIN and cell.config.task.test_count > 0
        else:
            assert probe.name in MEASURES and probe.count > 0
        assert cell.run.probe is None and cell.key.startswith(cell.run.group)
        assert from_text(as_text(cell, Path("x"), "cpu"))[0].key == cell.key


def test_every_measure_has_a_metric():
    assert MEASURES.keys() == METRIC_OF.keys()


def test_another_number_of_puzzles_changes_the_probe_and_not_the_run():
    experiment = make_experiment("chains")
    fewer = experiment.change(test_count=7)
    for place, changed in zip(experiment.places, fewer.places, strict=True):
        cell, other = place.cell, changed.cell
        assert other.probe.count == 7 and other.run == cell.run and other.key != cell.key
        assert other.with_seed(3).probe == other.probe
