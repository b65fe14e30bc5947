"""Records of format 1 are read as if today's version had written them."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fine.experiments import EXPERIMENTS, Ledger, make_experiment
from fine.experiments.probes import METRIC_OF, METRICS
from fine.experiments.upgrades import PROBE_WORDS, upgrade_probe, upgrade_record

LEDGER = Path(__file__).parents[2] / "results/ledger"


def old_record(**changes: object) -> dict[str, object]:
    """A record as format 1 had it, without its format."""
    training = {"epochs": 6, "batch": 64, "rate": 0.002, "clip": 10.0, "fresh": False}
    return {
        "key": "a-key",
        "model": "fine",
        "settings": {"code": 64, "symmetry": "apart", "readings": 2},
        "training": {**training, "schedule": "one-cycle", "views": 4, "arrival": ""},
        "accuracy": 0.75,
        **changes,
    }


def test_words_are_todays():
    record = upgrade_record(old_record())
    settings = {"embedding_size": 64, "symmetry": "two-sided", "auxiliary_queries": 1}
    assert record["settings"] == settings and record["model"] == "fine"
    training = record["training"]
    assert (training["learning_rate"], training["grad_clip"]) == (0.002, 10.0)
    assert training["augment_puzzles"] == 4 and "arrival" not in training
    assert (record["value"], record["metric"]) == (0.75, "accuracy") and "accuracy" not in record


def test_groups_of_slots_are_a_model_and_arrival_is_the_strategy():
    settings = {"slots": 72, "groups": 9}
    old = old_record(settings=settings)
    old["training"]["arrival"] = "anchor"
    record = upgrade_record(old)
    assert (record["model"], record["settings"]) == ("fine-grouped", settings)
    assert record["strategy"] == "anchor"


@pytest.mark.parametrize(
    ("old", "now", "metric"),
    [
        (
            {"name": "question", "options": {"ask": "backwards", "by": "turned"}},
            {"name": "variant", "options": {"name": "backwards", "by": "swapped"}},
            "accuracy",
        ),
        (
            {"name": "question", "options": {"solver": "alike", "hints": 1}},
            {"name": "variant", "options": {"solver": "most-similar", "hints": 1}},
            "accuracy",
        ),
        (
            {"name": "noticing", "options": {"sign": "hint", "against": "swap"}},
            {"name": "ood", "options": {"score": "residual", "against": "swap"}},
            "AUROC",
        ),
        ({"name": "refusing"}, {"name": "rejection"}, "rejection rate"),
        ({"name": "confidence"}, {"name": "calibration"}, "calibration error"),
        ({"name": "powers"}, {"name": "rotations"}, "share"),
        ({"name": "chart"}, {"name": "function-map"}, "share"),
        ({"name": "slots"}, {"name": "slots"}, "accuracy"),
    ],
)
def test_a_probe_has_its_own_metric(old, now, metric):
    assert upgrade_probe(old) == now
    assert upgrade_record(old_record(probe=old))["metric"] == metric


def test_every_measure_has_a_metric():
    assert set(PROBE_WORDS.values()) <= METRIC_OF.keys()
    assert set(METRIC_OF.values()) | {"accuracy"} == METRICS.keys()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@pytest.mark.slow
@given(st.sampled_from(sorted(old_record() | {"probe": {}, "error": ""})), JSON)
def test_what_does_not_fit_is_left_for_the_reader(name, value):
    upgrade_record(old_record(**{name: value}))
    upgrade_record(old_record(probe={"name": value, "options": value}))
    upgrade_record(old_record(probe={"name": "question", "options": {"by": value}}))


@pytest.mark.slow
@pytest.mark.skipif(not LEDGER.is_dir(), reason="the ledger is not part of a source distribution")
def test_every_record_in_the_ledger_says_what_its_cell_is():
    cells = {}
    for name in EXPERIMENTS:
        for place in make_experiment(name).places:
            for seed in range(3):
                cell = place.cell.with_seed(seed)
                cells[cell.key] = cell
    records = Ledger(LEDGER).records()
    assert len(records) >= 743
    for record in records:
        cell = cells.get(record.key)
        if cell is not None:  # a few are of settings that were tried before
            config = cell.config
            assert (record.model, record.settings) == (config.model, cell.settings)
            assert (record.training, record.metric) == (config.training, cell.metric)
            assert record.strategy == getattr(config, "strategy", "")
            assert record.probe == ({} if cell.probe is None else asdict(cell.probe))


@pytest.mark.slow
@pytest.mark.skipif(not LEDGER.is_dir(), reason="the ledger is not part of a source distribution")
def test_an_upgraded_record_can_be_written_again(tmp_path):
    kinds = {(r.model, r.metric, r.strategy): r for r in Ledger(LEDGER).records()}
    again = Ledger(tmp_path)
    for record in kinds.values():
        again.write(record)
        assert again.read(record.key) == record
    formats = {json.loads(path.read_text())["format"] for path in tmp_path.iterdir()}
    assert len(kinds) > 10 and formats == {2}
