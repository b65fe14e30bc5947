"""What functions are good for, without any training for it: python benchmarks/functions.py RUN TABLE [PUZZLES]

TABLE is hints, backwards, chains, powers or noticing; RUN a run folder of a FINE. Test puzzles of the run's own task, over
classes never seen in training; 95 % intervals.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from fine import Evaluation, RunConfig, Task, evaluate
from fine.errors import unknown
from fine.functions import compose_map, misfit
from fine.functions.answering import Answering
from fine.models.fine import FINE
from fine.models.limits import Oracle
from fine.questions import WAYS, Question
from fine.rules import FAMILIES, Warp, rule_set
from fine.runs import Run
from timing import show

HINTS = (1, 2, 3, 5)
SPOILT = ({}, *({kind: share} for kind in ("noise", "covered") for share in (0.1, 0.3, 0.5)))
LOOKED_UP = 200
"""Puzzles for the oracle, which tries every rule on every hint."""


class Asker:
    """A model and its task."""

    def __init__(self, folder: Path, count: int):
        self.config: RunConfig = Run(folder).config()
        self.model: FINE = Run(folder).load()
        self.task: Task = replace(self.config.task, test_count=count)

    def __call__(self, question: Question, *, oracle: bool = False) -> Evaluation:
        task = replace(self.task, test_count=min(LOOKED_UP, self.task.test_count)) if oracle else self.task
        puzzles = task.test_puzzles(question)
        model = Oracle(puzzles.rules, size=task.size) if oracle else self.model
        return evaluate(Answering(model, question), puzzles)


def percent(evaluation: Evaluation) -> str:
    low, high = evaluation.interval
    return f"{100 * evaluation.accuracy:.1f} ± {50 * (high - low):.1f}"


class Ignoring(nn.Module):
    """Takes the choice that looks most like y', as if f did nothing: more than chance, for what f does may be little."""

    def __init__(self, model: FINE):
        super().__init__()
        self.model = model

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        codes = self.model.encode(pictures[:, 2:], firsts=range(pictures.shape[1] - 2))
        return -self.model.distance(codes[:, 1:], codes[:, :1])


def hints(ask: Asker) -> None:
    rows = []
    for spoilt in SPOILT:
        name = ", ".join(f"{share:.0%} {kind}" for kind, share in spoilt.items()) or "clean"
        answers = [percent(ask(Question("hints", count, **spoilt))) for count in HINTS]
        rows.append((name, *answers, *(percent(ask(Question("hints", count, **spoilt), oracle=True)) for count in (1, 5))))
    show(_title("Several hints", ask), ("hints", *map(str, HINTS), "oracle, 1", "oracle, 5"), rows)


def backwards(ask: Asker) -> None:
    asked = {"forwards": ask(Question())} | {by: ask(Question("backwards", by=by)) for by in WAYS}
    asked["most like y'"] = evaluate(Ignoring(ask.model), ask.task.test_puzzles(Question("backwards")))
    oracle = ask(Question("backwards"), oracle=True)
    families = list(oracle.puzzles.rules.families)
    rows = []
    for name, evaluation in asked.items():
        by_rule = evaluation.by_rule()
        shares = []
        for family in families:
            own = [row for row in by_rule if row["family"] == family]
            count = sum(row["puzzles"] for row in own)
            shares.append(f"{sum(100 * row['right'] * row['puzzles'] for row in own) / count:.1f}")
        rows.append((name, percent(evaluation), *shares))
    rows.append(("oracle", percent(oracle), *("" for _ in families)))
    show(_title("Backwards", ask), ("", "all", *families), rows)


def chains(ask: Asker) -> None:
    rows = [("1", percent(ask(Question())), percent(ask(Question(), oracle=True)))]
    for links in (2, 3):
        question = Question("chain", links)
        rows.append((f"{links}", percent(ask(question)), percent(ask(question, oracle=True))))
    show(_title("Chains", ask), ("rules", "accuracy", "oracle"), rows)


@torch.no_grad()
def powers(ask: Asker) -> None:
    """Rotations made of other rotations: which of all 24 the result is nearest to, on another picture."""
    model, task = ask.model.eval(), ask.task
    puzzles = task.test_puzzles()
    pictures = [puzzles.images.pixels[puzzles.specs[:, column]].float() / 255 for column in range(3)]  # x, x', x''
    warp = Warp(rule_set("rotation"), size=task.size)

    def turned(picture: torch.Tensor, degrees: int) -> torch.Tensor:
        return warp(picture, torch.full((len(picture),), degrees // 15 % 24))

    def function(picture: torch.Tensor, degrees: int):
        codes = model.encode(torch.stack((picture, turned(picture, degrees)), dim=1))
        return compose_map(model, [codes[:, 0]], [codes[:, 1]])

    x, new, other = pictures
    choices = torch.stack([turned(new, 15 * step) for step in range(24)], dim=1)
    codes = model.encode(torch.cat((new[:, None], choices), dim=1), firsts=[0] * 25)
    by, also = ({degrees: function(picture, degrees) for degrees in (15, 30, 45, 60, 90)} for picture in (x, other))
    made = {
        "15°, shown": (by[15], 15),
        "90° to the power 1/6": (by[90].power(1 / 6), 15),
        "45°, shown": (by[45], 45),
        "90° to the power 1/2": (by[90].power(1 / 2), 45),
        "half-way from 30° to 60°": (by[30].mixed(also[60], 0.5), 45),
        "30° @ 15°": (by[30].after(also[15]), 45),
        "90°, shown": (by[90], 90),
        "15° to the power 6": (by[15].power(6), 90),
        "45° to the power 2": (by[45].power(2), 90),
        "−90°: inverse of 90°": (by[90].inverse(), 270),
    }
    rows = []
    for name, (one, degrees) in made.items():
        found = model.distance(codes[:, 1:], one(codes[:, 0])[:, None]).argmin(1)
        off = (15 * found - degrees + 180) % 360 - 180
        within = (off.abs() <= 15).float().mean()
        rows.append(
            (name, f"{degrees}°", f"{(off == 0).float().mean():.1%}", f"{within:.1%}", f"{off.abs().float().median():g}°")
        )
    columns = ("function", "should be", "nearest of 24", "within 15°", "median error")
    show(_title("Powers and roots", ask), columns, rows)


def noticing(ask: Asker) -> None:
    """How well rules that were not in training, and mistakes, are told from the others: AUROC, where 50 % is chance."""
    own = _answered(ask, ask.task.rules)
    rows = [("mistakes under known rules", "", *(f"{auroc(sign[~own[2]], sign[own[2]]):.1%}" for sign in own[:2]))]
    for family in (name for name in FAMILIES if name not in own[3]):
        strange = _answered(ask, family)
        signs = (f"{auroc(new, known):.1%}" for new, known in zip(strange[:2], own[:2], strict=True))
        rows.append((family, f"{strange[2].float().mean():.1%}", *signs))
    columns = ("told from known rules", "accuracy", "by misfit", "by low probability")
    show(_title("Noticing", ask), columns, rows)


def _answered(ask: Asker, rules: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, set[str]]:
    """Misfits, 1 − probability of the answer and whether it was right, a puzzle each; and the families of the rules."""
    puzzles = replace(ask.task, rules=rules, test_rules="").test_puzzles()
    evaluation = evaluate(ask.model, puzzles)
    pictures = puzzles.render(range(len(puzzles))).pictures
    misfits = torch.cat([misfit(ask.model, part[:, 0], part[:, 1]) for part in pictures.split(100)])
    unsure = 1 - torch.from_numpy(evaluation.probabilities).max(1).values
    return misfits, unsure, torch.from_numpy(evaluation.kinds == 0), set(puzzles.rules.families)


def auroc(high: torch.Tensor, low: torch.Tensor) -> float:
    """The probability that one of ``high`` is above one of ``low``."""
    above = high[:, None] - low
    return float((above > 0).float().mean() + (above == 0).float().mean() / 2)


def _title(name: str, ask: Asker) -> str:
    task = ask.task
    return f"{name}: {ask.config.model}, {task.rules} over {task.test_images or task.images}, {task.test_count:,} puzzles"


TABLES = {"hints": hints, "backwards": backwards, "chains": chains, "powers": powers, "noticing": noticing}


def main() -> None:
    folder, table, count = (*sys.argv[1:], *("", "hints", "1000")[len(sys.argv) - 1 :])
    if table not in TABLES:
        raise unknown("table", table, TABLES)
    TABLES[table](Asker(Path(folder), int(count)))


if __name__ == "__main__":
    main()
