"""Which ridge the inverse of a function should have.

    python benchmarks/inverse_ridge.py RUN [PUZZLES]

RUN is a run that held training classes back (`fine train … --validation`). It solves backwards
puzzles over those, so that no test class chooses anything. The ridge is for matrices whose
condition number is above `LARGEST_CONDITION`.
"""

import sys
from dataclasses import replace
from pathlib import Path

from fine import FineError, evaluate
from fine.models import embedding_functions
from fine.models.variant_solver import VariantSolver
from fine.puzzles.variants import Variant
from fine.training.run import Run
from timing import show

RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
BACKWARDS = Variant("backwards", by="inverse")


def main(folder: str, count: str = "1000") -> None:
    run = Run(Path(folder))
    config, solver = run.config(), VariantSolver(run.load(), BACKWARDS)
    if not config.task.validation:
        raise FineError(
            f"{folder} held no classes back, so it would be asked about test classes: train it "
            "with --validation"
        )
    puzzles = replace(config.task, test_count=int(count)).test_puzzles(BACKWARDS)
    rows = []
    for ridge in RIDGES:
        embedding_functions.RIDGE = ridge
        evaluation = evaluate(solver, puzzles)
        low, high = evaluation.interval
        rows.append((f"{ridge:g}", f"{evaluation.accuracy:.1%}", f"{low:.1%} – {high:.1%}"))
    title = f"Backwards by inverse, {len(puzzles):,} puzzles over held-back classes"
    show(title, ("ridge", "accuracy", "95 % interval"), rows)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
