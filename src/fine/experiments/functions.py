"""The tables of docs/functions.md as experiments: what functions can do, of models that were trained for nothing else.

    experiment = make_experiment("chains")             # rows × columns of cells with probes, over the runs of table 1

They ask the multi-affine `fine` of table 1 and, where turns are looked at by themselves, the one for rotations. The oracle is
asked beside it wherever it can answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from fine.experiments.cells import Cell
from fine.experiments.experiment import Experiment, Place
from fine.experiments.paper import FAMILIES
from fine.experiments.probes import Probe
from fine.functions.noticing import NO_RIGHT_CHOICE, RANDOM_PAIRS
from fine.functions.powers import MADE
from fine.models.fine import FINEConfig
from fine.protocols import Training
from fine.questions import FORWARDS, WAYS, Question
from fine.runs import RunConfig
from fine.tasks import Task

FUNCTIONS = {
    "hints": "several hints, clean and spoilt",
    "hints-by-family": "the same by the family of the rule",
    "backwards": "the same puzzles backwards",
    "chains": "rules one after another",
    "powers": "powers, roots and mixes of rotations",
    "odd-one-out": "which pair follows another rule",
    "trained-for-it": "questions that training was about, and ones that it was not",
    "noticing": "telling what is strange from what is known",
    "refusing": "saying that none of these is right",
    "calibration": "how sure answers are, and how many are right",
    "slots": "what is lost without a slot",
    "figure-map": "a map of functions",
}
"""What functions can do, with no training for it: tables of ours, which the paper does not have."""

AFFINE = FAMILIES[:5]
STRANGE = (*FAMILIES[5:], RANDOM_PAIRS, NO_RIGHT_CHOICE)
"""What a model of affine rules should notice."""
ASKED, NOTICED, LOOKED_UP = 1_000, 500, 200
"""Puzzles a model is asked, those of each kind that it should notice, and those the oracle is asked, which tries every rule on
every hint."""
ASKED_BY_FAMILY = 2_500
"""Puzzles of five families together: about 500 of each."""
HINTS = ("1", "2", "3", "5")
SPOILT: dict[str, dict[str, float]] = {"clean": {}} | {
    f"{share:.0%} {kind}".replace("%", " %"): {kind: share} for kind in ("noise", "covered") for share in (0.1, 0.3, 0.5)
}
ORACLE = ", oracle"
"""Ends the name of a row that the oracle answers."""
NICE = "NICE "
"""Begins the name of a row that the paper's model answers, which can be inverted exactly."""

Measure = Callable[[str, str], tuple[str, Probe]]
"""(row, column) -> the rules of the run that is asked, and what is measured of it."""


def _table(
    name: str,
    rows: Sequence[str],
    columns: Sequence[str],
    measure: Measure,
    *,
    of: tuple[str, str],
    training: Training,
    images: str,
    title: str = "",
    measured: str = "Test accuracy in %",
) -> Experiment:
    def cell(row: str, column: str) -> Cell:
        rules, probe = measure(row, column)
        task = Task.preset(images or "omniglot", rules=rules)
        model = "fine-nice" if row.startswith(NICE) else "fine"
        return Cell(RunConfig(model=model, task=task, training=training), probe)

    places = tuple(Place(row, column, cell(row, column)) for column in columns for row in rows)
    about = f"{images or 'omniglot'}, classes never seen: {title or FUNCTIONS[name]}"
    return Experiment(name, about, *of, tuple(rows), tuple(columns), places, measured)


def _asked(row: str, count: int, **options: Any) -> Probe:
    """A question to the model of a row, or to the oracle."""
    if row.endswith("oracle"):
        return Probe("question", min(LOOKED_UP, count), {"solver": "oracle", **options})
    return Probe("question", count, options)


def hints(name: str, training: Training, images: str) -> Experiment:
    """What spoils the hints × how many there are."""
    rows = [row for spoilt in SPOILT for row in (spoilt, spoilt + ORACLE)]

    def measure(row: str, column: str) -> tuple[str, Probe]:
        spoilt = SPOILT[row.removesuffix(ORACLE)]
        plain = not spoilt and column == "1"  # which other tables have too
        several = {} if plain else {"hints": int(column)}
        return "affine", _asked(row, ASKED, **several, **spoilt)

    title = f"{FUNCTIONS[name]}; ignoring the rule gives 50"
    return _table(name, rows, HINTS, measure, of=("hints are", "hints"), training=training, images=images, title=title)


def hints_by_family(name: str, training: Training, images: str) -> Experiment:
    """Families, and what spoils the hints × how many there are."""

    def measure(row: str, column: str) -> tuple[str, Probe]:
        family, _, spoilt = row.partition(", ")
        return "affine", _asked(row, ASKED_BY_FAMILY, family=family, hints=int(column), **SPOILT[spoilt])

    rows = [f"{family}, {spoilt}" for family in AFFINE for spoilt in SPOILT]
    title = f"{FUNCTIONS['hints']}, by the family of the rule; ignoring it gives 50"
    return _table(name, rows, HINTS, measure, of=("rule, hints are", "hints"), training=training, images=images, title=title)


def backwards(name: str, training: Training, images: str) -> Experiment:
    """Ways to solve backwards puzzles × families of the rule to be undone."""
    rows = ("forwards", *(f"by {way}" for way in WAYS), "most like y'", NICE + "forwards", NICE + "by inverse", "oracle")

    def measure(row: str, column: str) -> tuple[str, Probe]:
        row = row.removeprefix(NICE)
        rules = "rotation" if column == ALONE else "affine"
        family = {} if column in ("all", ALONE) else {"family": column}
        if row == "forwards":
            return rules, _asked(row, ASKED, **family)
        solver = {"solver": "alike"} if row == "most like y'" else {}
        way = {"by": row.removeprefix("by ")} if row.startswith("by ") else {}
        return rules, _asked(row, ASKED, ask="backwards", **way, **solver, **family)

    title = f"{FUNCTIONS[name]}, by the family of the rule that is undone"
    columns = ("all", *AFFINE, ALONE)
    return _table(name, rows, columns, measure, of=("solved", "rules"), training=training, images=images, title=title)


ALONE = "rotation alone"
"""The column of the model that has learned rotations and nothing else."""


def chains(name: str, training: Training, images: str) -> Experiment:
    """Rules a model has learned × how many are shown in a row."""
    rows = [row for rules in ("affine", "rotation") for row in (rules, rules + ORACLE)]

    def measure(row: str, column: str) -> tuple[str, Probe]:
        asked = {} if column == "1" else {"ask": "chain", "hints": int(column)}
        return row.removesuffix(ORACLE), _asked(row, ASKED, **asked)

    title = f"{FUNCTIONS[name]}; guessing among the right objects gives 50"
    return _table(name, rows, ("1", "2", "3"), measure, of=("rules", "in a row"), training=training, images=images, title=title)


def powers(name: str, training: Training, images: str) -> Experiment:
    """Rotations made of others × models, nearest and within 15°."""

    def measure(row: str, column: str) -> tuple[str, Probe]:
        rules, _, near = column.partition(": ")
        return rules, Probe("powers", 500, {"made": row} | ({} if near == "nearest" else {"within": 15}))

    columns = [f"{rules}: {near}" for rules in ("rotation", "affine") for near in ("nearest", "within 15°")]
    title = "which of 24 rotations a function comes nearest to; chance is 4.2, and 12.5 within 15°"
    return _table(
        name,
        tuple(MADE),
        columns,
        measure,
        of=("function", "model"),
        training=training,
        images=images,
        title=title,
        measured="Share of functions in %",
    )


def figure_map(name: str, training: Training, images: str) -> Experiment:
    """The paper's map of composed weights: how many functions lie next to one of their own family, and where they lie."""

    def measure(_: str, column: str) -> tuple[str, Probe]:
        return "affine", Probe("chart", 400, {"space": column})

    return _table(
        name,
        ("fine",),
        ("numbers", "map"),
        measure,
        of=("model", "nearest by"),
        training=training,
        images=images,
        title="functions whose nearest neighbour is of the same family, by all their numbers and on the map; chance is 20",
        measured="Share of functions in %",
    )


def odd_one_out(name: str, training: Training, images: str) -> Experiment:
    """The model and the oracle × how many pairs there are."""

    def measure(row: str, column: str) -> tuple[str, Probe]:
        return "affine", _asked(row, ASKED, ask="odd-one-out", hints=int(column))

    title = f"{FUNCTIONS[name]}; chance is 33.3, 25 and 20"
    return _table(
        name, ("fine", "oracle"), ("3", "4", "5"), measure, of=("model", "pairs"), training=training, images=images, title=title
    )


QUESTIONS = {
    "3 hints, 30 % noise": Question(hints=3, noise=0.3),
    "3 hints, 30 % covered": Question(hints=3, covered=0.3),
    "a chain of 2": Question("chain", hints=2),
    "the odd one out of 4": Question("odd-one-out", hints=4),
}
"""Columns of `trained-for-it`."""


def trained_for_it(name: str, training: Training, images: str) -> Experiment:
    """What training was about × questions of the test."""
    rows = ("plain puzzles", "the question itself")

    def cell(row: str, column: str) -> Cell:
        task, question = Task.preset(images or "omniglot", rules="affine"), QUESTIONS[column]
        if row == rows[0]:
            changed = {key: value for key, value in asdict(question).items() if value != getattr(FORWARDS, key)}
            options = {"ask" if key == "name" else key: value for key, value in changed.items()}
            return Cell(RunConfig(model="fine", task=task, training=training), Probe("question", ASKED, options))
        task = replace(task, test_count=ASKED)
        return Cell(RunConfig(model="fine", task=task, training=training, question=question))

    title = f"{images or 'omniglot'}, classes never seen: {FUNCTIONS[name]}"
    places = tuple(Place(row, column, cell(row, column)) for column in QUESTIONS for row in rows)
    return Experiment(name, title, "trained on", "asked", rows, tuple(QUESTIONS), places)


SIGNS = {"misfit of the hint": "hint", "distance of the answer": "answer", "low probability": "unsure"}


def noticing(name: str, training: Training, images: str) -> Experiment:
    """Signs × what should be noticed."""

    def measure(row: str, column: str) -> tuple[str, Probe]:
        return "affine", Probe("noticing", NOTICED, {"sign": SIGNS[row], "against": column})

    return _table(
        name,
        tuple(SIGNS),
        (*STRANGE, "mistakes"),
        measure,
        of=("sign", "told from puzzles under known rules"),
        training=training,
        images=images,
        title="families that were not in training, pairs without a rule, no right choice; and mistakes from right answers",
        measured="AUROC in %, where 50 is chance",
    )


def refusing(name: str, training: Training, images: str) -> Experiment:
    """How many puzzles are answered "none of these", by what is strange about them."""

    def measure(_: str, column: str) -> tuple[str, Probe]:
        return "affine", Probe("refusing", NOTICED, {} if column == "nothing" else {"against": column})

    return _table(
        name,
        ("fine",),
        ("nothing", *STRANGE),
        measure,
        of=("model", "what is strange"),
        training=training,
        images=images,
        title="limits at 5 % false alarms, from training puzzles that were not shown; chance is 5",
        measured="Puzzles answered “none of these” in %",
    )


def calibration(name: str, training: Training, images: str) -> Experiment:
    """How far probabilities are from the truth, as they are and with a temperature."""
    rows = ("as it answers", "with a temperature")

    def measure(row: str, column: str) -> tuple[str, Probe]:
        return column, Probe("confidence", NOTICED, {"calibrated": True} if row == rows[1] else {})

    return _table(
        name,
        rows,
        ("affine", "rotation"),
        measure,
        of=("probabilities", "model"),
        training=training,
        images=images,
        title="temperature from training puzzles that training has not shown",
        measured="Expected calibration error in %",
    )


def slots(name: str, training: Training, images: str) -> Experiment:
    """Which slot is removed × families of the hidden rule."""
    rows = ("all slots", *(f"without {slot}" for slot in range(FINEConfig().slots)))

    def measure(row: str, column: str) -> tuple[str, Probe]:
        removed = {} if row == rows[0] else {"removed": int(row.removeprefix("without "))}
        return "affine", Probe("slots", ASKED, removed | ({} if column == "all" else {"family": column}))

    title = f"{FUNCTIONS[name]}, by the family of the hidden rule; ignoring the rule gives 50"
    return _table(name, rows, ("all", *AFFINE), measure, of=("memory", "rules"), training=training, images=images, title=title)


TABLES: dict[str, Callable[[str, Training, str], Experiment]] = {
    "hints": hints,
    "hints-by-family": hints_by_family,
    "backwards": backwards,
    "chains": chains,
    "powers": powers,
    "odd-one-out": odd_one_out,
    "trained-for-it": trained_for_it,
    "noticing": noticing,
    "refusing": refusing,
    "calibration": calibration,
    "slots": slots,
    "figure-map": figure_map,
}
"""How each is made."""
