"""Rules that come one family after another, with no puzzle of an old one ever shown again.

    config = RunConfig(task=task, training=Training(arrival="anchor"), settings={"slots": 72, "groups": 9})
    train(config, Path("runs/in-turn"))            # task.rules="all": nine stages, each a run of its own in runs/in-turn
    figures(read_json(Path("runs/in-turn/result.json"))["stages"])     # average accuracy, forgetting, forward transfer

Half of the training puzzles are of the first family, with which the encoder is learnt (new ones in every epoch, where nothing
is tested on it); the others share the rest. A stage goes on from the model of the one before, so it can be stopped and resumed
like any other run. After each stage the model answers the test puzzles of all families, those to come among them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.models import model_config
from fine.pretrained import load
from fine.pretrained.cards import by_family
from fine.progress import Progress, Silent
from fine.puzzles import OBJECT_CHANCE
from fine.rules import STARTERS, rule_set
from fine.runs import Run, RunConfig, provenance, read_tensors, save_tensors
from fine.storage import read_json, write_json, write_text
from fine.training import Hold, go_on

GROWING = ("grow", "anchor")
"""Ways to arrive that add slots."""
HELD_EPOCHS, HELD_RATE = 4, 2
"""Epochs for one of others, and how much faster slots learn, where the encoder is held: codes are made once then, and an epoch
over them costs a quarter."""
START_SLOTS = 16
"""Slots of a start that nothing is tested on; families begin with some of them, and none are kept."""

Row = dict[str, Any]
"""A stage: the family it was about, and the share of the test puzzles of every family answered right after it."""


@dataclass(frozen=True)
class Figures:
    """What is said of learning one thing after another, in shares of puzzles."""

    average: float
    """Accuracy on all families at the end."""
    forgetting: float
    """How much less is known of a family at the end than at its best before, on average over all but the last."""
    transfer: float
    """How much more than ignoring the rule gives is known of a family just before it comes, over all but the first."""


def begin_in_turn(config: RunConfig, folder: Path, hold: Hold, *, device: str, progress: Progress | None) -> Evaluation:
    """Begin a run whose families come one after another."""
    settings = asdict(model_config(config.model, config.settings))
    config = replace(config, settings=settings, channels=config.task.picture_channels)
    stages(config, folder)  # refuses what cannot be run before anything is written
    with hold:
        Run(folder).save_config(config)
        return learn_in_turn(config, folder, device=device, progress=progress)


def learn_in_turn(config: RunConfig, folder: Path, *, device: str, progress: Progress | None) -> Evaluation:
    """Learn the families that are left, each as a run of its own, and keep the last model as that of the whole."""
    tested = config.task.test_puzzles()
    rows: list[Row] = []
    plan = stages(config, folder)
    for number, (family, place, stage) in enumerate(plan):
        run = Run(place)
        told = _Later(progress or Silent(), config, plan, number)
        if not run.exists:
            run.save_config(stage)  # whoever goes on from here finds the stage, whether or not it has begun
        if not run.finished:
            go_on(place, device=device, progress=told)
        record = place / "families.json"
        if not record.exists() or number == len(plan) - 1:
            evaluation = evaluate(load(place, device=device), tested, device=device)
            write_json(record, {"family": family, "accuracy": _by_family(evaluation)})
        rows.append(read_json(record))
    return _finish(config, folder, [place for _, place, _ in plan], rows, evaluation)


def stages(config: RunConfig, folder: Path) -> list[tuple[str, Path, RunConfig]]:
    """The family, the folder and the run of every stage."""
    families = list(rule_set(config.task.rules).families)
    learnt = [family for family in families if family not in STARTERS]
    arrival, groups, slots = config.training.arrival, config.settings["groups"], config.settings["slots"]
    if len(families) < 2:
        raise FineError(f"'{config.task.rules}' is one family: with arrival={arrival} give several, joined by +")
    if arrival in GROWING and groups != len(learnt):
        raise FineError(f"{len(learnt)} families that arrive by {arrival} need a group of slots each: set groups={len(learnt)}")
    made: list[tuple[str, Path, RunConfig]] = []
    for number, family in enumerate(families):
        task = replace(
            config.task,
            rules="+".join(families[: number + 1]) if arrival == "rehearsal" else family,
            test_rules="",
            train_count=max(2, config.task.train_count // 2 // (len(families) - 1 if number else 1)),
            test_count=max(1, config.task.test_count // len(families)),
        )
        settings = dict(config.settings)
        if family in STARTERS:
            settings |= {"slots": START_SLOTS, "groups": 0}
        elif arrival in GROWING:
            so_far = learnt.index(family) + 1
            settings |= {"slots": slots // groups * so_far, "groups": so_far}
        training = config.training if number else replace(config.training, arrival="", fresh=family in STARTERS)
        if number and arrival == "anchor":
            training = replace(training, epochs=HELD_EPOCHS * training.epochs, rate=HELD_RATE * training.rate)
        grown_from = str(made[-1][1]) if made else ""
        stage = replace(config, task=task, settings=settings, training=training, grown_from=grown_from)
        made.append((family, folder / f"{number + 1}-{family}", stage))
    return made


def figures(rows: Sequence[Row]) -> Figures:
    """The figures of a sequence of stages, over the families that were tested."""
    stage_of = {row["family"]: number for number, row in enumerate(rows) if row["family"] in rows[-1]["accuracy"]}
    last, end = rows[-1]["accuracy"], len(rows) - 1
    known = [(family, stage) for family, stage in stage_of.items() if stage < end]
    awaited = [(family, stage) for family, stage in stage_of.items() if stage > 0]
    lost = [max(row["accuracy"][family] for row in rows[stage:end]) - last[family] for family, stage in known]
    gained = [rows[stage - 1]["accuracy"][family] - OBJECT_CHANCE for family, stage in awaited]
    return Figures(fmean(last[family] for family in stage_of), fmean(lost), fmean(gained))


def _finish(config: RunConfig, folder: Path, places: list[Path], rows: list[Row], evaluation: Evaluation) -> Evaluation:
    """Make the folder of the whole a run like any other: the last weights, all epochs, and the result."""
    run = Run(folder)
    curves = [(place / "metrics.csv").read_text(encoding="utf-8").splitlines() for place in places]
    lines = [line.partition(",")[2] for curve in curves for line in curve[1:]]
    numbered = [curves[0][0], *(f"{number},{line}" for number, line in enumerate(lines, start=1))]
    write_text(folder / "metrics.csv", "\n".join(numbered) + "\n")
    minutes = sum(read_json(place / "result.json")["minutes"] for place in places)
    result = {**evaluation.summary(), "minutes": round(minutes, 3), "stages": rows, **provenance()}
    write_json(folder / "result.json", result)
    evaluation.draw(folder / "puzzles.png")
    save_tensors(run.weights, read_tensors(Run(places[-1]).weights)[0])  # last: with its weights a run is finished
    return evaluation


def _by_family(evaluation: Evaluation) -> dict[str, float]:
    return {family: round(right, 5) for family, _, right in by_family({"by_rule": evaluation.by_rule()})}


def _shown(plan: Sequence[tuple[str, Path, RunConfig]]) -> int:
    """Puzzles that some stages show."""
    return sum(stage.training.epochs * stage.task.train_count for _, _, stage in plan)


class _Later:
    """Progress of a stage as that of the whole, which a bar takes to have all its epochs over all its puzzles."""

    def __init__(self, progress: Progress, config: RunConfig, plan: Sequence[tuple[str, Path, RunConfig]], number: int):
        self.progress, self.before = progress, _shown(plan[:number])
        self.scale = config.training.epochs * config.task.train_count / _shown(plan)
        self.epochs_for_one = plan[number][2].training.epochs // config.training.epochs

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        done = round(self.scale * (self.before + done))
        self.progress.step(epoch=-(-epoch // self.epochs_for_one), done=done, loss=loss, accuracy=accuracy)

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        if epoch % self.epochs_for_one == 0:
            self.progress.epoch(epoch=epoch // self.epochs_for_one, loss=loss, accuracy=accuracy, speed=speed)
