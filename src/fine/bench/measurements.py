"""The measurements: each makes a table, in CPU time of one thread, from rounds of taking turns."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from fine.allocation import keep_freed_memory
from fine.bench.results import Bench, Measured
from fine.bench.steps import Parts, Solving, Step
from fine.bench.timing import median_ratio, take_turns
from fine.io.provenance import provenance
from fine.models import MODELS
from fine.puzzles.task import Task

BATCH = 64
ROUNDS = 15
"""Rounds of a table, if there is time for them."""
SIDE = 1024
"""Of the square matrices whose product is the machine's peak."""
COMPOSING = ("fine", "fine-nice", "fine-mlp")
"""Models whose step is measured part by part."""
GROWTH: Mapping[str, tuple[int, ...]] = {
    "batch": (16, 64, 256),
    "slots": (2, 8, 16),
    "embedding_size": (64, 256, 1024),
    "channels": (3,),
}
"""What `fine` is measured with besides its own settings, batch and grey images, one at a time."""

Measure = Callable[[Task, float], Measured]
"""(task, the moment to be ready by) -> a table."""


def measure(*, seconds: float = 120.0, say: Callable[[str], None] = lambda _: None) -> Bench:
    """All tables, in about so many seconds; a slow machine takes longer, for three rounds each."""
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
    task = Task.preset("glyphs", rules="affine")
    return replace(task, train_count=256, test_count=1, train_classes=20, test_classes=20)


def speeds(task: Task, until: float) -> Measured:
    """How fast each model trains and solves."""
    steps = {name: Step(name, task, batch=BATCH) for name in MODELS}
    candidates = [call for step in steps.values() for call in (step, Solving(step))]
    taken = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, until=until)
    training = dict(zip(steps, taken[0::2], strict=True))
    solving = dict(zip(steps, taken[1::2], strict=True))
    rows = {
        name: {
            "training, puzzles/s": BATCH / median(training[name]),
            "solving, puzzles/s": BATCH / median(solving[name]),
            "training beside fine": median_ratio(training["fine"], training[name]),
            "parameters": step.parameters,
        }
        for name, step in steps.items()
    }
    title = f"Speed of every model, {BATCH} puzzles at a time, rendering included"
    return Measured("speed", title, "model", rows)


def parts(task: Task, until: float) -> Measured:
    """Where the time of a step goes."""
    models = {name: Parts(Step(name, task, batch=BATCH)) for name in COMPOSING}
    rows = {}
    calls = [_parts_of(part) for part in models.values()]
    candidates = [call for each in calls for call in each]
    taken = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, until=until)
    count = len(calls[0])
    for number, name in enumerate(models):
        whole, *times = taken[count * number : count * (number + 1)]
        shares = (100 * median_ratio(part, whole) for part in times)
        optimise, render, encode, answer, remember = shares
        rows[name] = {
            "step, ms": 1000 * median(whole),
            "rendering %": render,
            "encoder %": encode,
            "memory %": remember,
            "backbone, metric, loss %": answer - remember,
            "clip, Adam %": optimise,
            "rest %": 100 - render - encode - answer - optimise,
        }
    note = (
        "The rest is what Python and the trainer do between the parts, and what is not measured "
        "well."
    )
    return Measured("parts", f"A training step by part, {BATCH} puzzles", "model", rows, note)


def _parts_of(part: Parts) -> tuple[Callable[[], object], ...]:
    """The whole step first, then its parts."""
    return part.step, part.optimise, part.render, part.encode, part.answer, part.remember


def processor(task: Task, until: float) -> Measured:
    """How much of the machine's peak the encoder reaches."""
    models = {name: Parts(Step(name, task, batch=BATCH)) for name in COMPOSING}
    operations = {name: _operations(part.encode) for name, part in models.items()}
    left, right = torch.randn(2, SIDE, SIDE)
    candidates = [lambda: left @ right, *(part.encode for part in models.values())]
    rounds = 2 * ROUNDS
    peak, *taken = take_turns(candidates, rounds=rounds, clock=time.process_time, until=until)
    product = 2 * SIDE**3
    rows = {
        f"encoder of {name}": {
            "GFLOP a step": operations[name] / 1e9,
            "GFLOP/s": operations[name] / median(seconds) / 1e9,
            "of the peak %": 100 * operations[name] / product * median_ratio(peak, seconds),
        }
        for name, seconds in zip(models, taken, strict=True)
    }
    rows[f"product of {SIDE}×{SIDE} matrices: the peak"] = {
        "GFLOP a step": product / 1e9,
        "GFLOP/s": product / median(peak) / 1e9,
        "of the peak %": 100.0,
    }
    note = (
        "Operations of convolutions, forward and backward, counted by torch.utils.flop_counter; "
        "normalisation and ReLU, which take time too, count as none."
    )
    title = f"Use of the processor, {7 * BATCH} images a step"
    return Measured("processor", title, "what", rows, note)


def growth(task: Task, until: float) -> Measured:
    """What larger settings cost."""
    steps = {}
    for name, values in GROWTH.items():
        for value in values:
            shown = replace(task, channels=value) if name == "channels" else task
            batch = value if name == "batch" else BATCH
            settings = {} if name in ("batch", "channels") else {name: value}
            steps[f"{name} {value}"] = Step("fine", shown, batch=batch, settings=settings)
    candidates = list(steps.values())
    times = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, until=until)
    taken = dict(zip(steps, times, strict=True))
    usual = taken[f"batch {BATCH}"]
    rows = {}
    for name, seconds in taken.items():
        size = len(steps[name].specs)
        rows[name] = {
            "step, ms": 1000 * median(seconds),
            "puzzles/s": size / median(seconds),
            "time a puzzle beside the usual": median_ratio(seconds, usual) * BATCH / size,
        }
    usual_settings = f"usual: batch {BATCH}, slots 8, embedding_size 256, grey"
    title = f"Growth of a training step of fine; {usual_settings}"
    return Measured("growth", title, "setting", rows)


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
