"""What parts of the augmentation of images are worth on images of another kind.

    python dev/trial_augmentation.py --parts none all edges+mask --epochs 6 12

Trains as table 4 does for CIFAR-100 → Omniglot (5,000 puzzles over CIFAR-100 in grey, seen rules).
Nothing that the tables test is looked at: the test images are generated glyphs and a fifth of the
training classes that was held back; the test rules are the seen ones and others *between* those of
the table. Each run is a line of runs/trial_augmentation.jsonl; one that is there is not run again.
"""

import argparse
import itertools
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fine.evaluation import evaluate
from fine.experiments import make_experiment
from fine.images import load_images
from fine.puzzles import Puzzles, draw_puzzles
from fine.rules import register_family, rule_set
from fine.rules.paper import rotation, shear, translation
from fine.training import Run, RunConfig, train

BETWEEN = {
    "translation": list(itertools.product((-7.5, -4.5, 0, 4.5, 7.5), repeat=2)),
    "rotation": [(15 * k + 7.5,) for k in range(12, 24)],
    "shear": list(itertools.product((-52.5, -37.5, 0, 37.5, 52.5), repeat=2)),
}
"""Rules that neither training nor the tables have; all but no change at all are far from those of
training."""
FAR = {
    "translation": list(itertools.product((-8.5, -4.5, 0, 4.5, 8.5), repeat=2)),
    "shear": list(itertools.product((-56, -37.5, 0, 37.5, 56), repeat=2)),
}
"""Others, nearly as large as the largest of the tables in at least one of their numbers."""
SOURCES = {"translation": translation, "rotation": rotation, "shear": shear}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", nargs="+", default=["none", "all"])
    parser.add_argument("--epochs", nargs="+", type=int, default=[6])
    parser.add_argument("--rules", nargs="+", default=["translation"], choices=BETWEEN)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--model", default="fine")
    parser.add_argument("--count", type=int, default=3_000, help="test puzzles of each kind")
    parser.add_argument("--results", type=Path, default=Path("runs/trial_augmentation.jsonl"))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    asked.results.touch()
    done = [json.loads(line) for line in asked.results.read_text().splitlines()]
    for rules, epochs, parts, seed in itertools.product(
        asked.rules, asked.epochs, asked.parts, asked.seeds
    ):
        name = {"model": asked.model, "rules": rules, "parts": parts, "epochs": epochs}
        name |= {"seed": seed, "count": asked.count}
        if not any(name.items() <= row.items() for row in done):
            row = name | measure(config_of(name), asked.count)
            with asked.results.open("a", encoding="utf-8") as file:
                print(json.dumps(row), file=file)
            print(json.dumps(row), flush=True)


def config_of(name: dict[str, Any]) -> RunConfig:
    """The run of table 4, augmented, with a fifth of its training classes held back."""
    place = make_experiment("table4").place(name["model"], f"cifar100-omniglot-{name['rules']}")
    config = place.cell.config
    parts = "" if name["parts"] == "none" else name["parts"]
    training = replace(
        config.training, epochs=name["epochs"], seed=name["seed"], augment_images=parts
    )
    # Its own test is of no interest here.
    task = replace(config.task, validation=True, test_count=100)
    return replace(config, task=task, training=training)


def measure(config: RunConfig, count: int) -> dict[str, Any]:
    """Accuracy in % on every kind of test puzzle, on training puzzles, and what it took."""
    model, cost = trained(config)
    accuracies = {
        kind: round(100 * evaluate(model, puzzles).accuracy, 1)
        for kind, puzzles in test_sets(config, count).items()
    }
    return accuracies | cost


def trained(config: RunConfig) -> tuple[nn.Module, dict[str, float]]:
    """A trained model, its accuracy in % in the last epoch, and minutes of one core."""
    with tempfile.TemporaryDirectory() as folder:
        run, started = Run(Path(folder) / "run"), time.process_time()
        train(config, run.folder)
        minutes = (time.process_time() - started) / 60
        model = run.load()
        curve = (run.folder / "metrics.csv").read_text().splitlines()
    in_training = dict(zip(curve[0].split(","), curve[-1].split(","), strict=True))["accuracy"]
    return model, {"training": round(100 * float(in_training), 1), "minutes": round(minutes, 2)}


def test_sets(config: RunConfig, count: int) -> dict[str, Puzzles]:
    """Glyphs and held-back photographs, under seen rules, rules between, and the largest there."""
    family = config.task.rules.removesuffix(":seen")
    photographs = config.task.test_puzzles().images
    images = {"glyphs": (load_images("glyphs"), None)}
    images["photographs"] = (photographs, config.task.testing_classes)
    sets = {"seen": f"{family}:seen", "between": f"{family}-between"}
    if family in FAR:
        sets["far"] = f"{family}-far"
    return {
        f"{kind}, {split}": draw_puzzles(shown, rule_set(rules), count, seed=7, classes=classes)
        for kind, (shown, classes) in images.items()
        for split, rules in sets.items()
    }


for family, grid in BETWEEN.items():
    moved = [parameters for parameters in grid if any(parameters)]
    register_family(f"{family}-between", grid=moved, label=str)(SOURCES[family])
for family, grid in FAR.items():
    most = max(max(parameters) for parameters in grid)
    moved = [parameters for parameters in grid if most in map(abs, parameters)]
    register_family(f"{family}-far", grid=moved, label=str)(SOURCES[family])

if __name__ == "__main__":
    main()
