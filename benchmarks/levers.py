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
import torch.nn.functional as F
from torch import Tensor

from fine.models import encoders, memory
from fine.models.fine import FINE, standardise
from fine.models.group_convolution import GroupBatchNorm, GroupConv
from fine.models.paper import regularised
from fine.puzzles.task import Task
from fine.training import RunConfig, Training, train, trainer
from timing import show

SEEDS, PUZZLES, EPOCHS, TEST = 3, 4_000, 2, 4_000


def one_convolution_an_element(self: GroupConv, maps: Tensor) -> Tensor:
    banks = [
        self.weight[:, :, permutation].permute(0, 2, 1, 3, 4).flatten(1, 2)
        for permutation in self.permutations
    ]
    made = [F.conv2d(maps, bank, stride=self.stride, padding=self.padding) for bank in banks]
    return torch.stack(made).mean(0) if self.pooling else torch.cat(made, dim=1)


def channels_first(self: GroupConv, maps: Tensor) -> Tensor:
    bank = self.weight[:, :, self.permutations].permute(2, 0, 3, 1, 4, 5)
    bank = (bank.mean(0, keepdim=True) if self.pooling else bank).flatten(2, 3).flatten(0, 1)
    return F.conv2d(maps.contiguous(), bank.contiguous(), stride=self.stride, padding=self.padding)


def slot_by_slot(values: Tensor, x: Tensor, y: Tensor, *, ridge: float) -> Tensor:
    made = (values @ x[:, None]).flatten(2)  # (b, s, o × c): what every slot makes of x
    gram = regularised(made @ made.mT, ridge)
    return torch.linalg.solve(gram, (made @ y.flatten(1)[..., None])[..., 0])


def image_by_image(self: FINE, images: Tensor) -> Tensor:
    seen = standardise(images, self.config.standardise)
    return torch.stack([self.encoder(seen[:, place]) for place in range(seen.shape[1])], dim=1)


def tensor_by_tensor(
    *args: Any, adam: type[torch.optim.Adam] = torch.optim.Adam, **given: Any
) -> torch.optim.Adam:
    return adam(*args, **given | {"fused": False})


Undoing = tuple[object, str, object]
"""Whose attribute is replaced, which, and by what."""
SAME_NUMBERS: dict[str, Undoing] = {
    "memory kept between steps; else handed back to the system": (
        trainer,
        "keep_freed_memory",
        lambda: None,
    ),
    "filters of all group elements in one convolution; else one for each": (
        GroupConv,
        "forward",
        one_convolution_an_element,
    ),
    "channels last in memory; else first": (GroupConv, "forward", channels_first),
    "the fit as one matrix product; else slot by slot": (memory, "fit", slot_by_slot),
    "fused Adam; else tensor by tensor": (torch.optim, "Adam", tensor_by_tensor),
}
"""Levers that change how a number is found, not which."""
OTHER_NUMBERS: dict[str, Undoing] = {
    "one encoder batch; else seven, each normalised by itself": (FINE, "encode", image_by_image),
    "a bias in the first layer; else a normalisation": (encoders, "GroupBias", GroupBatchNorm),
}
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
