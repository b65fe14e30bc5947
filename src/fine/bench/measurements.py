"""The measurements: each makes a table, in CPU time of one thread, from rounds of taking turns."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from fine.allocation import keep_freed_memory
from fine.bench.results import Bench, Measured
from fine.bench.steps import Parts, Solving, Step
from fine.bench.timing import Limit, TimeIsUp, median_ratio, take_turns
from fine.errors import FineError
from fine.io.provenance import provenance
from fine.models import MODELS
from fine.puzzles.task import Task
from fine.threads import using_threads

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

Measure = Callable[[Task, Limit], Measured]
"""(task, how long it may take) -> a table."""


@using_threads(1)
def measure(*, seconds: float = 120.0, say: Callable[[str], None] = lambda _: None) -> Bench:
    """All tables that can be measured in ``seconds``; those that do not fit are left out.

    A table gets its share of the time for more rounds, but all that is left for its first ones.
    """
    started = time.monotonic()
    keep_freed_memory()
    tables = []
    try:
        task = few_puzzles()
        for number, (what, make) in enumerate(TABLES.items(), 1):
            say(what)
            share = started + seconds * number / len(TABLES)
            tables.append(make(task, Limit(enough=share, end=started + seconds)))
    except TimeIsUp:
        if not tables:
            raise FineError(
                f"seconds is {seconds:g}, too few for anything to be measured on this machine: "
                "give more, such as 60"
            ) from None
    return Bench(provenance(), round(time.monotonic() - started, 1), tuple(tables))


def few_puzzles() -> Task:
    """Enough for the largest batch, and quickly drawn."""
    task = Task.preset("glyphs", rules="affine")
    return replace(task, train_count=256, test_count=1, train_classes=20, test_classes=20)


def _steps(names: Iterable[str], task: Task, limit: Limit) -> dict[str, Step]:
    """A training step of each model, if there is time to make them."""
    steps = {}
    for name in names:
        limit.check()
        steps[name] = Step(name, task, batch=BATCH)
    return steps


def speeds(task: Task, limit: Limit) -> Measured:
    """How fast each model trains and solves."""
    steps = _steps(MODELS, task, limit)
    candidates = [call for step in steps.values() for call in (step, Solving(step))]
    taken = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, limit=limit)
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


def parts(task: Task, limit: Limit) -> Measured:
    """Where the time of a step goes."""
    models = {name: Parts(step) for name, step in _steps(COMPOSING, task, limit).items()}
    rows = {}
    calls = [_parts_of(part) for part in models.values()]
    candidates = [call for each in calls for call in each]
    taken = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, limit=limit)
    count = len(calls[0])
    for number, name in enumerate(models):
        whole, *times = taken[count * number : count * (number + 1)]
        shares = [100 * median_ratio(part, whole) for part in times]
        rows[name] = {"step, ms": 1000 * median(whole), **_shares(*shares)}
    note = (
        "The rest is what Python and the trainer do between the parts, and what is not measured "
        "well. Parts that take longer alone than in the step are scaled to 100 % together."
    )
    return Measured("parts", f"A training step by part, {BATCH} puzzles", "model", rows, note)


def _shares(
    optimise: float, render: float, encode: float, answer: float, remember: float
) -> dict[str, float]:
    """Shares of a step in %, which add up to 100, from those measured, which need not."""
    together = optimise + render + encode + answer
    scale = 100 / max(100.0, together)
    memory = min(remember, answer)
    return {
        "rendering %": scale * render,
        "encoder %": scale * encode,
        "memory %": scale * memory,
        "backbone, metric, loss %": scale * (answer - memory),
        "clip, Adam %": scale * optimise,
        "rest %": max(0.0, 100 - together),
    }


def _parts_of(part: Parts) -> tuple[Callable[[], object], ...]:
    """The whole step first, then its parts."""
    return part.step, part.optimise, part.render, part.encode, part.answer, part.remember


def processor(task: Task, limit: Limit) -> Measured:
    """How much of the machine's peak the encoder reaches."""
    models = {name: Parts(step) for name, step in _steps(COMPOSING, task, limit).items()}
    operations = {name: _operations(part.encode) for name, part in models.items()}
    left, right = torch.randn(2, SIDE, SIDE)
    candidates = [lambda: left @ right, *(part.encode for part in models.values())]
    rounds = 2 * ROUNDS
    peak, *taken = take_turns(candidates, rounds=rounds, clock=time.process_time, limit=limit)
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
    title = f"Use of the processor, {7 * BATCH} images per step"
    return Measured("processor", title, "what", rows, note)


def growth(task: Task, limit: Limit) -> Measured:
    """What larger settings cost."""
    steps = {}
    for name, values in GROWTH.items():
        for value in values:
            limit.check()
            shown = replace(task, channels=value) if name == "channels" else task
            batch = value if name == "batch" else BATCH
            settings = {} if name in ("batch", "channels") else {name: value}
            steps[f"{name} {value}"] = Step("fine", shown, batch=batch, settings=settings)
    candidates = list(steps.values())
    times = take_turns(candidates, rounds=ROUNDS, clock=time.process_time, limit=limit)
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
