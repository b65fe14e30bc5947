"""Results that no run made, and the texts that a report must show for them.

The texts are worked out from the ledger's files alone, without the code that makes the report.
"""

import random
import re
import statistics
from collections.abc import Iterable

from fine.evaluation import wilson
from fine.experiments import Cell, Comparison
from fine.experiments.paper import Quoted
from fine.experiments.records import Epoch, Record, record
from fine.rules import rule_set
from fine.rules.strings import string_rules
from fine.training import PROTOCOLS

HOSTILE = "<script>alert('1')</script> | 100 % & $x_1$ \\ *so*"
KINDS = ("right", "wrong rule", "wrong object", "both wrong")
APART = {
    "rotation": [(15.0 * step,) for step in range(1, 13)],
    "translation": [(3.0 * a, 3.0 * b) for a in range(7) for b in range(7) if a or b],
    "shear": [(15.0 * a, 15.0 * b) for a in range(9) for b in range(9) if a or b],
}

Content = dict[str, object]
"""What a file of the ledger holds."""
Raw = dict[str, list[Content]]
"""The contents of all files by the key without the seed, in the order of seeds."""


def random_result(cell: Cell, draw: random.Random) -> dict[str, object]:
    """A result of a cell with random numbers."""
    task = cell.config.task
    rules = (string_rules if task.shows_strings else rule_set)(task.test_rules or task.rules).rules
    rules = rules if cell.probe is None else ()  # the report shows rules of runs alone
    right = draw.randrange(task.test_count // 8, task.test_count)
    wrong = (task.test_count - right) / task.test_count
    shares = [wrong * part for part in (0.55, 0.3, 0.15)]
    families = {rule.family.name for rule in rules} & set(APART)
    measured = {
        "accuracy" if cell.probe is None else "value": round(right / task.test_count, 5),
        "interval": [round(bound, 5) for bound in wilson(right, task.test_count)],
        "mistakes": {kind: round(s, 5) for kind, s in zip(KINDS[1:], shares, strict=True)},
        "by_rule": [
            {
                "family": rule.family.name,
                "rule": str(rule),
                "puzzles": 9,
                **dict.fromkeys(KINDS, round(draw.random(), 4)),
            }
            for rule in rules
        ],
        "confusions": [
            {
                "family": name,
                "apart": list(apart),
                "puzzles": 9,
                "wrong rule": round(draw.random(), 4),
            }
            for name in sorted(families)
            for apart in APART[name]
        ],
        "minutes": round(draw.uniform(0.4, 90), 3),
        "fine": "0.1.0",
        "torch": "2.13.0",
        "python": "3.11.7",
        "machine": f"a machine {HOSTILE}",
        "commit": draw.choice(["abc1234", "def5678", "<i>"]),
    }
    if cell.probe is not None:
        measured |= {"puzzles": cell.probe.count, "details": random_points(cell, draw)}
    return measured


def random_points(cell: Cell, draw: random.Random) -> list[dict[str, object]]:
    """The points of a map of functions, for the cell that has one."""
    if cell.probe.options != {"space": "map"}:
        return []
    return [
        {
            "family": rule.family.name,
            "rule": str(rule),
            "parameters": list(rule.parameters),
            "layout": "umap",
            "across": round(draw.random(), 4),
            "down": round(draw.random(), 4),
        }
        for rule in rule_set(cell.config.task.rules).rules
    ]


def random_record(cell: Cell, draw: random.Random, **more: object) -> Record:
    """A record of a cell with random numbers and a curve."""
    epochs = range(cell.config.training.epochs)
    curve = tuple(Epoch(1.0, round(draw.random(), 5)) for _ in epochs)
    return record(cell, random_result(cell, draw) | more, curve)


def mean(values: Iterable[float]) -> float:
    """In %."""
    return 100 * statistics.mean(values)


def protocol(content: Content) -> str:
    """The protocol of a run: a constant learning rate is the paper's."""
    if content["training"]["schedule"] == "constant":
        return "paper-fresh" if content["training"].get("resample_each_epoch") else "paper"
    if content["training"]["learning_rate"] == PROTOCOLS["augmented"].learning_rate:
        return "augmented"
    return "strings" if content["task"]["images"] == "strings" else "quick"


def texts_of_place(records: list[Content], paper: Quoted | None) -> dict[str, str]:
    """The texts of a place of a table by field."""
    texts = {}
    if paper is not None:
        parts = zip(("paper", "paper spread"), str(paper).split(" ± "), strict=False)
        texts = {"quoted": str(paper), **dict(parts)}
    if not records:
        return texts
    values = [content["value"] for content in records]
    low, high = records[0]["interval"]
    spread = 100 * statistics.stdev(values) if len(records) > 1 else 50 * (high - low)
    wrong = {kind: mean(content["mistakes"][kind] for content in records) for kind in KINDS[1:]}
    minutes = statistics.mean(content["minutes"] for content in records)
    here = f"{mean(values):.1f}"
    texts |= {"here": here, "cost": here, "spread": f"{spread:.1f}", "minutes": f"{minutes:,.1f}"}
    texts |= {kind: f"{share:.1f}" for kind, share in wrong.items()}
    texts |= {"wrong": f"{sum(wrong.values()):.1f}"}
    texts |= {"curve": f"{mean(content['curve'][-1][1] for content in records):.1f}"}
    if paper is not None:
        text = f"{float(here) - paper.mean:+.1f}".replace("-", "−")
        texts["difference"] = "0.0" if text in ("+0.0", "−0.0") else text
    return texts


def texts_of_record(content: Content) -> dict[str, str]:
    """The texts of a line of the table of all runs by field."""
    low, high = content["interval"]
    return {
        "seed": str(content["training"]["seed"]),
        "value": f"{100 * content['value']:.1f}",
        "interval": f"{100 * low:.1f} – {100 * high:.1f}",
        "minutes": f"{content['minutes']:,.1f}",
        "epochs": f"{content['training']['epochs']:,}",
        "puzzles": f"{content['task']['train_count']:,}",
        "test puzzles": f"{content['task']['test_count']:,}",
        "protocol": protocol(content),
        "commit": content["commit"],
    }


def texts_of_experiment(comparison: Comparison, raw: Raw) -> dict[str, str]:
    """The facts of an experiment by name."""
    places = comparison.experiment.places
    runs = [raw[place.cell.group] for place in places if place.cell.group in raw]
    every = [content for records in runs for content in records]

    def span(values: Iterable[int]) -> str:
        values = list(values)
        low, high = min(values), max(values)
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"

    epochs: dict[str, list[int]] = {}
    for content in every:
        epochs.setdefault(protocol(content), []).append(content["training"]["epochs"])
    protocols = (f"{name}, {span(counts)} epochs" for name, counts in sorted(epochs.items()))
    return {
        "filled": f"{len(runs)} of {len(places)}",
        "protocol": "; ".join(protocols),
        "seeds": span(map(len, runs)),
        "training puzzles": span(content["task"]["train_count"] for content in every),
        "test puzzles": span(content["task"]["test_count"] for content in every),
        "minutes": f"{sum(content['minutes'] for content in every):,.1f}",
        "commit": ", ".join(sorted({content["commit"] for content in every})),
        "machine": f"a machine {HOSTILE}",
    }


def texts_of_map(records: list[Content], family: str, what: str) -> dict[tuple[float, ...], str]:
    """Whole % by parameters of a rule (``right``), or by distance (``apart``)."""
    found: dict[tuple[float, ...], list[float]] = {}
    for content in records:
        for row in content["by_rule" if what == "right" else "confusions"]:
            if row["family"] != family:
                continue
            if what == "right":
                place, share = re.findall(r"-?\d+", row["rule"]), row["right"]
            else:
                place, share = row["apart"], row["wrong rule"]
            found.setdefault(tuple(map(float, place)), []).append(share)
    return {at: f"{mean(values):.0f}" for at, values in found.items()}
