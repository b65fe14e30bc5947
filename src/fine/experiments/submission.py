"""Anyone's run as an entry of the ledger: checked, tested again, written for a pull request.

    record = check_submission(Run(Path("runs/mine")))       # a FineError says what is wrong
    Ledger(Path("results/ledger")).write(record)

What is checked: the run is finished, its files fit each other, it was trained by a named protocol,
no class of the test was in its training or in that of an encoder it started from, and its weights
still have the accuracy that it claims, on all test puzzles. What cannot be checked is that the
weights were made by this training; a maintainer can run it again, by the command that `fine submit`
prints.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.experiments.cells import Cell
from fine.experiments.records import Epoch, Record, Test, protocol_name, record
from fine.experiments.worker import read_curve
from fine.io.files import read_json
from fine.io.tensors import file_digest
from fine.io.typed_json import read_as
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN
from fine.training.protocols import PROTOCOLS
from fine.training.run import Run, RunConfig

TOLERANCE = 0.002
"""By how much the accuracy may differ when it is measured again, on another machine."""
CLAIMS: Mapping[str, Any] = {
    "accuracy": float,
    "minutes": float,
    **dict.fromkeys(("fine", "torch", "python", "machine", "commit"), str),
}
"""What a result.json must say, and of which type."""


def check_submission(run: Run, *, device: str = "cpu") -> Record:
    """The record of a finished run, tested again now; an error says what is wrong with it."""
    config = check_config(run)
    claimed = check_result(run)
    curve, test_curve = read_curve(run.folder / "metrics.csv")
    if len(curve) != config.training.epochs:
        raise FineError(
            f"{run.folder}/metrics.csv has {len(curve)} epochs and config.json "
            f"{config.training.epochs}: submit the run folder as `fine train` wrote it"
        )
    check_classes(config)
    evaluation = evaluate(run.load(device=device), config.task.test_puzzles(), device=device)
    if abs(evaluation.accuracy - claimed["accuracy"]) > TOLERANCE:
        raise FineError(
            f"{run.folder}/result.json says {claimed['accuracy']:.2%} and its weights have "
            f"{evaluation.accuracy:.2%} on the same puzzles: train the run again"
        )
    return record(
        Cell(config),
        {**claimed, **evaluation.summary()},
        tuple(Epoch(*point) for point in curve),
        tuple(Test(*point) for point in test_curve),
        weights=file_digest(run.weights),
    )


def check_config(run: Run) -> RunConfig:
    """The configuration of a run that can be compared with others."""
    config = run.config()
    if not run.finished:
        raise FineError(f"{run.folder} is not finished: `fine train --resume {run.folder}` first")
    if type(config) is not RunConfig or config.variant != PLAIN:
        raise FineError(
            f"{run.folder} is a run of another kind (continual learning, or a variant of the "
            "puzzles): submit one that was trained on plain puzzles all at once"
        )
    if config.task.validation:
        raise FineError(
            f"{run.folder} was tested on training classes (--validation): submit one that was "
            "tested on the test classes"
        )
    if protocol_name(config.training) == "custom":
        raise FineError(
            f"{run.folder} was trained with a batch, learning rate, schedule or clipping of its "
            f"own: use one of the protocols {', '.join(PROTOCOLS)}; epochs and augmentation are "
            "free"
        )
    return config


def check_result(run: Run) -> dict[str, Any]:
    """The result that a run reports."""
    path = run.folder / "result.json"
    if not path.exists():
        raise FineError(f"{run.folder} has no result.json: submit what `fine train` wrote")
    content = read_json(path)
    try:
        claims = {name: read_as(kind, content[name], name) for name, kind in CLAIMS.items()}
    except (KeyError, ValueError) as problem:
        raise FineError(f"{path} is not a result ({problem}): train the run again") from problem
    if claims["minutes"] < 0:
        raise FineError(f"{path} says that training took {claims['minutes']:g} minutes")
    return claims


def check_classes(config: RunConfig) -> None:
    """Refuse a run that has, or may have, seen test classes, directly or through its encoder."""
    _refuse_common_classes(config.task, config.task, "the run")
    seen: set[str] = set()
    before = config
    while before.encoder_from and before.encoder_from not in seen:
        name = before.encoder_from
        seen.add(name)
        try:
            before = Run(Path(name)).config()
        except FineError as problem:
            raise FineError(
                f"the run starts from the encoder of {name}, and what that has seen cannot be told "
                f"({problem}): give its run folder, or train without it"
            ) from problem
        _refuse_common_classes(before.task, config.task, f"the encoder of {name}")


def _refuse_common_classes(training: Task, test: Task, who: str) -> None:
    """Refuse test classes among the classes that ``who`` was trained on.

    Classes are compared by name, so that those of a mixture, and of sources that share their
    classes, such as cifar100 and cutouts, are known again.
    """
    tested = test.testing_class_names
    common = training.training_class_names & tested
    if common:
        raise FineError(
            f"{who} has seen {len(common)} of the {len(tested)} classes of "
            f"{test.test_images or test.images} that the test shows: train without them"
        )
