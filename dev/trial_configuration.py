"""Which one configuration of `fine` and its training serves every column of the tables.

    python dev/trial_configuration.py omniglot-shear --epochs 12 --set embedding_size=1024 slots=4

Nothing that the tables test is looked at. A column of table 1 or 2 is tested on a fifth of its
training classes, which training leaves out. A column of table 4 is tested on those and on generated
glyphs, under rules *between* those of the table. Each run is a line of
runs/trial_configuration.jsonl; one that is there is not run again.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from fine.evaluation import evaluate
from fine.puzzles import Puzzles
from fine.puzzles.task import Task
from fine.training import RunConfig, Training
from trial_augmentation import test_sets, trained

SCORED: dict[str, tuple[str, dict[str, Any]]] = {
    "fine": ("score_all_directions", {"": False, "all directions": True}),
    "fine-pyramid": (
        "second_look",
        {"": "none", "second look where unfamiliar": "unfamiliar", "second look at all": "all"},
    ),
}
"""The setting that says how a model scores its choices, and the ways of doing so."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("columns", nargs="+", help="omniglot-shear, extreme-cifar100-rotation, …")
    parser.add_argument("--model", default="fine", choices=SCORED)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--parts", default="all", help="of the augmentation; none")
    parser.add_argument("--unaugmented", type=float, default=0.0, help="share of puzzles")
    parser.add_argument("--same", action="store_true", help="the same puzzles in every epoch")
    parser.add_argument("--conjugate", type=float, default=0.0)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[], help="settings of the model")
    parser.add_argument("--count", type=int, default=3_000, help="test puzzles of each kind")
    parser.add_argument("--results", type=Path, default=Path("runs/trial_configuration.jsonl"))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    asked.results.touch()
    training = Training(
        epochs=asked.epochs,
        learning_rate=asked.rate,
        augment_images="" if asked.parts == "none" else asked.parts,
        unaugmented=asked.unaugmented,
        resample_each_epoch=not asked.same,
        conjugate=asked.conjugate,
        seed=asked.seed,
    )
    for column in asked.columns:
        name = {"column": column, "model": asked.model, "unaugmented": asked.unaugmented}
        name |= {"set": " ".join(asked.set), "count": asked.count}
        name |= {key: getattr(asked, key) for key in ("epochs", "parts", "same", "conjugate")}
        name |= {"rate": asked.rate, "seed": asked.seed}
        done = [json.loads(line) for line in asked.results.read_text().splitlines()]
        if any(name.items() <= row.items() for row in done):
            continue
        source, _, rules = column.rpartition("-")
        task = replace(Task.preset(source, rules=rules), validation=True, test_count=asked.count)
        settings = dict(item.split("=") for item in asked.set)
        row = name | measure(RunConfig(asked.model, task, training, settings), asked.count)
        with asked.results.open("a", encoding="utf-8") as file:
            print(json.dumps(row), file=file)
        print(json.dumps(row), flush=True)


def measure(config: RunConfig, count: int) -> dict[str, Any]:
    """Accuracy in %, scored as asked and in the other ways the model has, and what it took."""
    model, row = trained(config)
    setting, ways = SCORED[config.model]
    for kind, puzzles in tests(config, count).items():
        for name, value in ways.items():
            model.config = replace(model.config, **{setting: value})
            scored = f"{kind}, {name}" if name else kind
            row[scored] = round(100 * evaluate(model, puzzles).accuracy, 2)
    return row


def tests(config: RunConfig, count: int) -> dict[str, Puzzles]:
    """The held-back classes; for table 4 under rules between, and of images in grey also glyphs."""
    if not config.task.test_rules:
        return {"held back": config.task.test_puzzles()}
    sets = test_sets(config, count)
    grey = config.task.image_channels == 1
    return {kind: puzzles for kind, puzzles in sets.items() if grey or "glyphs" not in kind}


if __name__ == "__main__":
    main()
