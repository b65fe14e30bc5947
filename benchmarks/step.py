"""Where the time of a training step goes: python benchmarks/step.py

The real step of the real trainer is timed in turn with its parts, in CPU time on one thread.
"""

import sys
import time
from statistics import median

import torch

from fine.bench.steps import Parts, Step
from fine.puzzles.task import Task
from timing import median_ratio, show, take_turns, verdict

TARGET = 0.20
"""Largest share of a step that is not the encoder's."""


def main() -> int:
    torch.set_num_threads(1)
    rows, met = [], True
    task = Task.preset("glyphs", rules="affine")
    for model, batch in (("fine", 64), ("fine-nice", 32)):
        parts = Parts(Step(model, task, batch=batch))
        candidates = (parts.step, parts.optimise, parts.render, parts.encode, parts.answer)
        whole, *times = take_turns(candidates, rounds=40, clock=time.process_time)
        optimise, render, encode, answer = (median_ratio(part, whole) for part in times)
        ok = 1 - encode <= TARGET
        met &= ok
        rest = 1 - encode - answer - render - optimise
        shares = (encode, answer, render, optimise, rest, 1 - encode)
        texts = (f"{share:.1%}" for share in shares)
        name = f"{model}, {batch}"
        rows.append((name, f"{1000 * median(whole):.1f}", *texts, verdict(ok)))
    parts_of = ("encoder", "memory to loss", "rendering", "clip + Adam", "rest", "not encoder")
    columns = ("model, batch", "step ms", *parts_of, f"≤ {TARGET:.0%}")
    show("A training step by part", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
