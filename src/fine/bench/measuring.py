"""The measurements: each makes a table, in CPU time of one thread, from rounds in which the candidates take turns."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from fine.allocation import keep_freed_memory
from fine.bench.steps import Parts, Solving, Step
from fine.bench.tables import Bench, Measured
from fine.bench.timing import median_ratio, take_turns
from fine.models import MODELS
from fine.runs import provenance
from fine.tasks import Task

BATCH = 64
ROUNDS = 15
"""Rounds of a table, if there is time for them."""
SIDE = 1024
"""Of the square matrices whose product is the machine's peak."""
COMPOSING = ("fine", "fine-nice", "fine-mlp")
"""Models whose step is taken apart."""
GROWTH: Mapping[str, tuple[dict[str, int], ...]] = {
    "batch": ({"batch": 16}, {"batch": 64}, {"batch": 256}),
    "slots": ({"slots": 2}, {"slots": 8}, {"slots": 16}),
    "code": ({"code": 64}, {"code": 256}, {"code": 1024}),
    "channels": ({"channels": 3},),
}
"""What `fine` is measured with besides its own settings, batch and grey pictures, one at a time."""

Measure = Callable[[Task, float], Measured]
"""(task, the moment to be ready by) -> a table."""


def measure(*, seconds: float = 120.0, say: Callable[[str], None] = lambda _: None) -> Bench:
    """All tables, in about so many seconds; where the machine is too slow for that, three rounds of each."""
    started, threads = time.monotonic(), torch.get_num_threads()
    torch.set_num_threads(1)
    keep_freed_memory()
    try:
        task = few_puzzles()
        tables = []
        for number, (what, make) in enumerate(TABLES.items(), 1):
            say(what)
            tables.append(make(task, started + seconds * number / len(TABLES)))
        return Bench(provenance(), round(time.monotonic() - started, 1), tuple(tables))
    finally:
        torch.set_num_threads(threads)


def few_puzzles() -> Task:
    """Enough for the largest batch, and quickly drawn."""
    return replace(Task.preset("glyphs", rules="affine"), train_count=256, test_count=1, train_classes=20, test_classes=20)


def speeds(task: Task, until: float) -> Measured:
    """How fast each model trains and solves."""
    steps = {name: Step(name, task, batch=BATCH) for name in MODELS}
    candidates = [call for step in steps.values() for call in (step, Solving(step))]
    taken = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, until=until)
    training, solving = (dict(zip(steps, taken[which::2], strict=True)) for which in (0, 1))
    rows = {
        name: {
            "training, puzzles/s": BATCH / median(training[name]),
            "solving, puzzles/s": BATCH / median(solving[name]),
            "training beside fine": median_ratio(training["fine"], training[name]),
            "parameters": step.parameters,
        }
        for name, step in steps.items()
    }
    return Measured(f"Speed of every model, {BATCH} puzzles at a time, rendering included", "model", rows)


def parts(task: Task, until: float) -> Measured:
    """Where the time of a step goes."""
    taken_apart = {name: Parts(Step(name, task, batch=BATCH)) for name in COMPOSING}
    candidates = [
        call
        for part in taken_apart.values()
        for call in (part.step, part.optimise, part.render, part.encode, part.answer, part.remember)
    ]
    taken = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, until=until)
    rows = {}
    for number, name in enumerate(taken_apart):
        whole, *times = taken[6 * number : 6 * number + 6]
        optimise, render, encode, answer, remember = (100 * median_ratio(part, whole) for part in times)
        rows[name] = {
            "step, ms": 1000 * median(whole),
            "rendering %": render,
            "encoder %": encode,
            "memory %": remember,
            "backbone, metric, loss %": answer - remember,
            "clip, Adam %": optimise,
            "rest %": 100 - render - encode - answer - optimise,
        }
    note = "The rest is what Python and the trainer do between the parts, and what is not measured well."
    return Measured(f"A training step by part, {BATCH} puzzles", "model", rows, note)


def processor(task: Task, until: float) -> Measured:
    """How much of what the machine can multiply the encoder makes it do."""
    taken_apart = {name: Parts(Step(name, task, batch=BATCH)) for name in COMPOSING}
    operations = {name: _operations(part.encode) for name, part in taken_apart.items()}
    left, right = torch.randn(2, SIDE, SIDE)
    candidates = [lambda: left @ right, *(part.encode for part in taken_apart.values())]
    peak, *taken = take_turns(candidates, rounds=2 * ROUNDS, clock=time.process_time, until=until)
    product = 2 * SIDE**3
    rows = {
        f"encoder of {name}": {
            "GFLOP a step": operations[name] / 1e9,
            "GFLOP/s": operations[name] / median(seconds) / 1e9,
            "of the peak %": 100 * operations[name] / product * median_ratio(peak, seconds),
        }
        for name, seconds in zip(taken_apart, taken, strict=True)
    }
    rows[f"product of {SIDE}×{SIDE} matrices: the peak"] = {
        "GFLOP a step": product / 1e9,
        "GFLOP/s": product / median(peak) / 1e9,
        "of the peak %": 100.0,
    }
    note = (
        "Operations of convolutions, forward and backward, counted by torch.utils.flop_counter; normalisation and ReLU, which "
        "take time too, count as none."
    )
    return Measured(f"Use of the processor, {7 * BATCH} pictures a step", "what", rows, note)


def growth(task: Task, until: float) -> Measured:
    """What larger settings cost."""
    steps = {}
    for settings in (setting for group in GROWTH.values() for setting in group):
        ((name, value),) = settings.items()
        shown = replace(task, channels=value) if name == "channels" else task
        own = settings if name in ("slots", "code") else {}
        steps[f"{name} {value}"] = Step("fine", shown, batch=settings.get("batch", BATCH), settings=own)
    taken = dict(zip(steps, take_turns(list(steps.values()), rounds=ROUNDS, clock=time.process_time, until=until), strict=True))
    usual = taken[f"batch {BATCH}"]
    rows = {}
    for name, seconds in taken.items():
        size = len(steps[name].specs)
        rows[name] = {
            "step, ms": 1000 * median(seconds),
            "puzzles/s": size / median(seconds),
            "time a puzzle beside the usual": median_ratio(seconds, usual) * BATCH / size,
        }
    return Measured(f"Growth of a training step of fine; usual: batch {BATCH}, slots 8, code 256, grey", "setting", rows)


def _operations(work: Callable[[], Any]) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


TABLES: Mapping[str, Measure] = {
    "every model": speeds,
    "a training step by part": parts,
    "use of the processor": processor,
    "growth": growth,
}
