"""What tests of the report share: a ledger of made-up results, and the page of it."""

import json
import random
from pathlib import Path

import pytest

from fine.experiments import EXPERIMENTS, Comparison, Ledger, compare, make_experiment
from fine.experiments.records import failure
from fine.report import html_page
from support.pages import Node, read_page
from support.reports import HOSTILE, Raw, random_record

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A ledger of two thousand files takes seconds to make."""
    for item in items:
        if "ledger" in getattr(item, "fixturenames", ()) and item.path.parent == HERE:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def ledger(tmp_path_factory) -> Ledger:
    """A ledger with about two thirds of all places filled, some with three seeds, and failures."""
    made = Ledger(tmp_path_factory.mktemp("results") / "ledger")
    for name in EXPERIMENTS:
        for place in make_experiment(name).places:
            draw = random.Random(place.cell.key)
            if draw.random() < 0.3 and name != "figure-map":  # which has two places only
                continue
            if draw.random() < 0.05:
                made.write(failure(place.cell, f"it broke {HOSTILE}"))
                continue
            for seed in range(draw.choice((1, 1, 3))):
                made.write(random_record(place.cell.with_seed(seed), draw))
    return made


@pytest.fixture(scope="session")
def comparisons(ledger) -> list[Comparison]:
    return [compare(make_experiment(name), ledger) for name in EXPERIMENTS]


@pytest.fixture(scope="session")
def raw(ledger) -> Raw:
    """What the files of the ledger say, by key without the seed, in the order of seeds."""
    groups: Raw = {}
    keys = [path.stem.rpartition("_seed") for path in ledger.folder.glob("*.json")]
    for group, _, seed in sorted(keys, key=lambda key: int(key[2])):
        path = ledger.path(f"{group}_seed{seed}")
        content = json.loads(path.read_text(encoding="utf-8"))
        if "error" not in content:
            groups.setdefault(group, []).append(content)
    return groups


@pytest.fixture(scope="session")
def page(comparisons) -> Node:
    return read_page(html_page(comparisons))
