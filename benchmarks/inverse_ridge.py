"""Which ridge the inverse of a function should have: python benchmarks/inverse_ridge.py RUN [PUZZLES]

RUN is a run that held training classes back (`fine train … --validation`); it is asked backwards puzzles over those, so that no
test class chooses anything. `WORST` is the stretch beyond which a matrix is inverted with the ridge at all.
"""

import sys
from dataclasses import replace
from pathlib import Path

from fine import FineError, evaluate
from fine.functions import maps
from fine.functions.answering import Answering
from fine.questions import Question
from fine.runs import Run
from timing import show

RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def main() -> None:
    folder, count = Path(sys.argv[1]), int((*sys.argv[2:], "1000")[0])
    config, model, question = Run(folder).config(), Run(folder).load(), Question("backwards", by="inverse")
    if not config.task.validation:
        raise FineError(f"{folder} held no classes back, so it would be asked test classes: train it with --validation")
    puzzles = replace(config.task, test_count=count).test_puzzles(question)
    rows = []
    for ridge in RIDGES:
        maps.RIDGE = ridge
        evaluation = evaluate(Answering(model, question), puzzles)
        low, high = evaluation.interval
        rows.append((f"{ridge:g}", f"{evaluation.accuracy:.1%}", f"{low:.1%} – {high:.1%}"))
    show(f"Backwards by inverse, {count:,} puzzles over held-back classes", ("ridge", "accuracy", "95 % interval"), rows)


if __name__ == "__main__":
    main()
