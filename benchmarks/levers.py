"""What each lever saves, and what it costs in accuracy: python benchmarks/levers.py

`fine` is trained on generated glyphs as it is, and with one lever at a time undone: CPU time of training and test, on one
thread, and accuracy on unseen classes, with three seeds. Every run has a process of its own, and the runs take turns. Levers
that only save time give the same numbers but for rounding (tests/test_levers.py); small differences grow in training, so
these too are compared by accuracy.
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

import fine.training
from fine.models import encoders, symmetry
from fine.models.fine import FINE, standardised
from fine.models.memory import FunctionalMemory, _regular
from fine.protocols import Training
from fine.runs import RunConfig
from fine.tasks import Task
from fine.training import train
from timing import show

SEEDS, PUZZLES, EPOCHS, TEST = 3, 4_000, 2, 4_000


def one_convolution_a_way(self: symmetry.GroupConv, maps: Tensor) -> Tensor:
    banks = (self.weight[:, :, way].permute(0, 2, 1, 3, 4).flatten(1, 2) for way in self.moves)
    made = [F.conv2d(maps, bank, stride=self.stride, padding=self.padding) for bank in banks]
    return torch.stack(made).mean(0) if self.pooling else torch.cat(made, dim=1)


def channels_first(self: symmetry.GroupConv, maps: Tensor) -> Tensor:
    bank = self.weight[:, :, self.moves].permute(2, 0, 3, 1, 4, 5)
    bank = (bank.mean(0, keepdim=True) if self.pooling else bank).flatten(2, 3).flatten(0, 1)
    return F.conv2d(maps.contiguous(), bank.contiguous(), stride=self.stride, padding=self.padding)


def slot_by_slot(self: FunctionalMemory, values: Tensor, x: Tensor, y: Tensor) -> Tensor:
    made = (values @ x[:, None]).flatten(2)  # (b, s, o × c): what every slot makes of x
    return torch.linalg.solve(_regular(made @ made.mT, self.ridge), (made @ y.flatten(1)[..., None])[..., 0])


def picture_by_picture(self: FINE, pictures: Tensor) -> Tensor:
    seen = standardised(pictures, self.config.standardise)
    return torch.stack([self.encoder(seen[:, place]) for place in range(seen.shape[1])], dim=1)


def tensor_by_tensor(*args: Any, adam: type[torch.optim.Adam] = torch.optim.Adam, **given: Any) -> torch.optim.Adam:
    return adam(*args, **given | {"fused": False})


Undoing = tuple[object, str, object]
"""Whose attribute is replaced, which, and by what."""
SAME_NUMBERS: dict[str, Undoing] = {
    "memory kept between steps; else handed back to the system": (fine.training, "keep_freed_memory", lambda: None),
    "filters of all ways in one convolution; else one a way": (symmetry.GroupConv, "forward", one_convolution_a_way),
    "channels last in memory; else first": (symmetry.GroupConv, "forward", channels_first),
    "the fit as one matrix product; else slot by slot": (FunctionalMemory, "_fit", slot_by_slot),
    "fused Adam; else tensor by tensor": (torch.optim, "Adam", tensor_by_tensor),
}
"""Levers that change how a number is found, not which."""
OTHER_NUMBERS: dict[str, Undoing] = {
    "one encoder batch; else seven, each normalised by itself": (FINE, "encode", picture_by_picture),
    "a bias in the first layer; else a normalisation": (encoders, "GroupBias", symmetry.GroupBatchNorm),
}
TRAININGS: dict[str, dict[str, Any]] = {
    "one-cycle rate; else constant, at half its peak": {"schedule": "constant", "rate": 1e-3},
    "64 puzzles a step; else 32, at half the rate": {"batch": 32, "rate": 1e-3},
}
AS_IT_IS = "as it is"
LEVERS = (AS_IT_IS, *SAME_NUMBERS, *OTHER_NUMBERS, *TRAININGS)


def trained(lever: str, seed: int) -> dict[str, float]:
    """CPU seconds and accuracy of a training without this lever."""
    torch.set_num_threads(1)
    for undoing in (levers[lever] for levers in (SAME_NUMBERS, OTHER_NUMBERS) if lever in levers):
        setattr(*undoing)
    task = replace(Task.preset("glyphs", rules="affine"), train_count=PUZZLES, test_count=TEST)
    training = replace(Training(epochs=EPOCHS, seed=seed), **TRAININGS.get(lever, {}))
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        accuracy = train(RunConfig("fine", task, training), Path(folder) / "run").accuracy
        return {"seconds": time.process_time() - started, "accuracy": 100 * accuracy}


def main() -> int:
    if len(sys.argv) == 3:
        print(json.dumps(trained(sys.argv[1], int(sys.argv[2]))))
        return 0
    runs: dict[str, list[dict[str, float]]] = {lever: [] for lever in LEVERS}
    for seed in range(SEEDS):
        for lever, done in runs.items():
            child = [sys.executable, __file__, lever, str(seed)]
            done.append(json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout.splitlines()[-1]))
            print(f"seed {seed}, {lever}: {done[-1]['seconds']:.1f} s, {done[-1]['accuracy']:.1f} %", flush=True)
    rows = []
    for lever, done in runs.items():
        pairs = list(zip(runs[AS_IT_IS], done, strict=True))
        slower = median(off["seconds"] / on["seconds"] for on, off in pairs)
        gains = [on["accuracy"] - off["accuracy"] for on, off in pairs]
        accuracy = f"{mean(run['accuracy'] for run in done):.1f}"
        gained = f"{round(mean(gains), 1) + 0.0:+.1f} ± {stdev(gains):.1f}"  # + 0.0: no minus before a zero
        compared = ("", "") if lever == AS_IT_IS else (f"{slower:.2f} ×", gained)
        rows.append((lever, f"{median(run['seconds'] for run in done):.0f}", accuracy, *compared))
    columns = ("lever", "CPU seconds", "accuracy", "time without it", "accuracy gained by it")
    show(f"Levers: {PUZZLES:,} puzzles, {EPOCHS} epochs, {SEEDS} seeds", columns, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
