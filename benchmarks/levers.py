"""What each lever saves, and what it costs in accuracy: python benchmarks/levers.py

`fine` is trained on generated glyphs as it is, and with one lever at a time undone: CPU time of
training and test, on one thread, and accuracy on unseen classes, with three seeds. Every run has
a process of its own, and the runs take turns. Levers that only save time give the same numbers
but for rounding (tests/bench/test_levers.py); small differences grow in training, so these too
are compared by accuracy.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import torch

from fine.bench.levers import OTHER_NUMBERS, SAME_NUMBERS
from fine.puzzles.task import Task
from fine.training import RunConfig, Training, train
from timing import show

SEEDS, PUZZLES, EPOCHS, TEST = 3, 4_000, 2, 4_000


TRAININGS: dict[str, dict[str, Any]] = {
    "one-cycle learning rate; else constant, at half its peak": {
        "schedule": "constant",
        "learning_rate": 1e-3,
    },
    "64 puzzles a step; else 32, at half the learning rate": {"batch": 32, "learning_rate": 1e-3},
}
AS_IT_IS = "as it is"
LEVERS = (AS_IT_IS, *SAME_NUMBERS, *OTHER_NUMBERS, *TRAININGS)


def trained(lever: str, seed: int) -> dict[str, float]:
    """CPU seconds and accuracy of a training without this lever."""
    torch.set_num_threads(1)
    undoing = (SAME_NUMBERS | OTHER_NUMBERS).get(lever)
    if undoing is not None:
        setattr(*undoing)
    task = Task.preset("glyphs", rules="affine")
    task = replace(task, train_count=PUZZLES, test_count=TEST)
    training = replace(Training(epochs=EPOCHS, seed=seed), **TRAININGS.get(lever, {}))
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        accuracy = train(RunConfig("fine", task, training), Path(folder) / "run").accuracy
        return {"seconds": time.process_time() - started, "accuracy": 100 * accuracy}


def in_a_process(lever: str, seed: int) -> dict[str, float]:
    command = [sys.executable, __file__, lever, str(seed)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    if len(sys.argv) == 3:
        print(json.dumps(trained(sys.argv[1], int(sys.argv[2]))))
        return 0
    runs: dict[str, list[dict[str, float]]] = {lever: [] for lever in LEVERS}
    for seed in range(SEEDS):
        for lever, done in runs.items():
            run = in_a_process(lever, seed)
            done.append(run)
            result = f"{run['seconds']:.1f} s, {run['accuracy']:.1f} %"
            print(f"seed {seed}, {lever}: {result}", flush=True)
    rows = []
    for lever, done in runs.items():
        pairs = list(zip(runs[AS_IT_IS], done, strict=True))
        slower = median(off["seconds"] / on["seconds"] for on, off in pairs)
        gains = [on["accuracy"] - off["accuracy"] for on, off in pairs]
        accuracy = f"{mean(run['accuracy'] for run in done):.1f}"
        gain = round(mean(gains), 1) + 0.0  # + 0.0: no minus before a zero
        gained = f"{gain:+.1f} ± {stdev(gains):.1f}"
        compared = ("", "") if lever == AS_IT_IS else (f"{slower:.2f} ×", gained)
        seconds = f"{median(run['seconds'] for run in done):.0f}"
        rows.append((lever, seconds, accuracy, *compared))
    columns = ("lever", "CPU seconds", "accuracy", "time without it", "accuracy gained by it")
    show(f"Levers: {PUZZLES:,} puzzles, {EPOCHS} epochs, {SEEDS} seeds", columns, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
