"""The tables of docs/functions.md: what composed functions can do, with no training for it.

    experiment = make_experiment("chains")      # rows × columns of probes, over the runs of table 1

They probe the multi-affine `fine` of table 1 and, for rotations by themselves, the one that learned
only those. The oracle answers beside it wherever it can.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fine.analysis.rotations import TARGETS
from fine.evaluation.ood import NO_RIGHT_CHOICE, RANDOM_PAIRS
from fine.experiments.cells import Cell
from fine.experiments.experiment import Experiment, Place, label
from fine.experiments.paper import FAMILIES
from fine.experiments.probes import Probe
from fine.models.fine import FINEConfig
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN, Variant
from fine.training.protocols import Training
from fine.training.run import RunConfig

AFFINE = FAMILIES[:5]
UNKNOWN = (*FAMILIES[5:], RANDOM_PAIRS, NO_RIGHT_CHOICE)
"""What is out of distribution for a model of affine rules."""
PUZZLES, OOD_PUZZLES, ORACLE_PUZZLES = 1_000, 500, 200
"""Puzzles for a model, for each kind of out-of-distribution puzzle, and for the oracle, which is
slow: it tries every rule on every hint."""
PUZZLES_BY_FAMILY = 2_500
"""Puzzles of five families together: about 500 of each."""
HINTS = ("1", "2", "3", "5")
SPOILT: dict[str, dict[str, float]] = {"clean": {}} | {
    f"{100 * share:.0f} % {kind}": {kind: share}
    for kind in ("noise", "covered")
    for share in (0.1, 0.3, 0.5)
}
"""Rows of `hints`: how the images of hints are corrupted."""
ORACLE = ", oracle"
"""Ends the name of a row that the oracle answers."""
NICE = "NICE "
"""Begins the name of a row that the paper's model answers, which can be inverted exactly."""
ALONE = "rotation alone"
"""The column of the model that has learned rotations and nothing else."""

Trained = Callable[[str], RunConfig]
"""Rules -> the run of `fine` that learned them."""


@dataclass(frozen=True)
class ProbeTable:
    """A table of probes."""

    what: str
    """What it shows, for the list of experiments."""
    title: str
    """The same with what a reader of the numbers should know."""
    rows: Sequence[str]
    columns: Sequence[str]
    of: tuple[str, str]
    """What the rows and the columns are."""
    cell: Callable[[str, str, Trained], Cell]
    """(row, column, trained runs) -> the cell that belongs there."""

    def make(self, name: str, training: Training, images: str) -> Experiment:
        """The experiment over the runs of this training, on these images or the paper's."""
        source = images or "omniglot"

        def trained(rules: str) -> RunConfig:
            return RunConfig(task=Task.preset(source, rules=rules), training=training)

        places = tuple(
            Place(row, column, self.cell(row, column, trained))
            for column in self.columns
            for row in self.rows
        )
        title = f"{label(source)}, classes never seen: {self.title}"
        return Experiment(name, title, *self.of, tuple(self.rows), tuple(self.columns), places)


def _variant(row: str, count: int, **options: Any) -> Probe:
    """A variant of puzzles for the model of a row, or for the oracle."""
    if row.endswith("oracle"):
        return Probe("variant", min(ORACLE_PUZZLES, count), {"solver": "oracle", **options})
    return Probe("variant", count, options)


def hints(row: str, column: str, trained: Trained) -> Cell:
    spoilt = SPOILT[row.removesuffix(ORACLE)]
    plain = not spoilt and column == "1"  # a cell that other tables share
    several = {} if plain else {"hints": int(column)}
    return Cell(trained("affine"), _variant(row, PUZZLES, **several, **spoilt))


def hints_by_family(row: str, column: str, trained: Trained) -> Cell:
    family, _, spoilt = row.partition(", ")
    options = {"family": family, "hints": int(column), **SPOILT[spoilt]}
    return Cell(trained("affine"), _variant(row, PUZZLES_BY_FAMILY, **options))


BACKWARDS: dict[str, dict[str, str]] = {
    "forwards": {},
    "by inverse": {"name": "backwards", "by": "inverse"},
    "by swapped": {"name": "backwards", "by": "swapped"},
    "by tried": {"name": "backwards", "by": "tried"},
    "most like y'": {"name": "backwards", "solver": "most-similar"},
    "NICE forwards": {},
    "NICE by inverse": {"name": "backwards", "by": "inverse"},
    "oracle": {"name": "backwards"},
}
"""Rows of `backwards`, and the options of their probes."""


def backwards(row: str, column: str, trained: Trained) -> Cell:
    run = trained("rotation" if column == ALONE else "affine")
    if row.startswith(NICE):
        run = replace(run, model="fine-nice")
    family = {} if column in ("all", ALONE) else {"family": column}
    return Cell(run, _variant(row, PUZZLES, **BACKWARDS[row], **family))


def chains(row: str, column: str, trained: Trained) -> Cell:
    chain = {} if column == "1" else {"name": "chain", "hints": int(column)}
    return Cell(trained(row.removesuffix(ORACLE)), _variant(row, PUZZLES, **chain))


def rotations(row: str, column: str, trained: Trained) -> Cell:
    rules, _, near = column.partition(": ")
    options = {"made": row} | ({} if near == "nearest" else {"within": 15})
    return Cell(trained(rules), Probe("rotations", 500, options))


def odd_one_out(row: str, column: str, trained: Trained) -> Cell:
    options = {"name": "odd-one-out", "hints": int(column)}
    return Cell(trained("affine"), _variant(row, PUZZLES, **options))


TRAINED_VARIANTS = {
    "3 hints, 30 % noise": Variant(hints=3, noise=0.3),
    "3 hints, 30 % covered": Variant(hints=3, covered=0.3),
    "a chain of 2": Variant("chain", hints=2),
    "the odd one out of 4": Variant("odd-one-out", hints=4),
}
"""Columns of `trained-for-it`."""
TRAINED_ON = ("plain puzzles", "the variant itself")
"""Rows of `trained-for-it`."""


def trained_for_it(row: str, column: str, trained: Trained) -> Cell:
    run, variant = trained("affine"), TRAINED_VARIANTS[column]
    if row == TRAINED_ON[0]:
        fields = asdict(variant).items()
        options = {name: value for name, value in fields if value != getattr(PLAIN, name)}
        return Cell(run, Probe("variant", PUZZLES, options))
    task = replace(run.task, test_count=PUZZLES)
    return Cell(replace(run, task=task, variant=variant))


OOD_SCORES = {
    "misfit of the hint": "residual",
    "distance of the answer": "distance",
    "low probability": "confidence",
}
"""Rows of `noticing`, and the out-of-distribution scores that they are about."""


def noticing(row: str, column: str, trained: Trained) -> Cell:
    options = {"score": OOD_SCORES[row], "against": column}
    return Cell(trained("affine"), Probe("ood", OOD_PUZZLES, options))


def refusing(row: str, column: str, trained: Trained) -> Cell:
    options = {} if column == "nothing" else {"against": column}
    return Cell(trained("affine"), Probe("rejection", OOD_PUZZLES, options))


def calibration(row: str, column: str, trained: Trained) -> Cell:
    options = {"calibrated": True} if row == "with a temperature" else {}
    return Cell(trained(column), Probe("calibration", OOD_PUZZLES, options))


def slots(row: str, column: str, trained: Trained) -> Cell:
    removed = {} if row == "all slots" else {"removed": int(row.removeprefix("without "))}
    family = {} if column == "all" else {"family": column}
    return Cell(trained("affine"), Probe("slots", PUZZLES, removed | family))


def function_map(row: str, column: str, trained: Trained) -> Cell:
    return Cell(trained("affine"), Probe("function-map", 400, {"space": column}))


PROBE_TABLES = {
    "hints": ProbeTable(
        what="several hints, clean and spoilt",
        title="several hints, clean and spoilt; ignoring the rule gives 50",
        rows=[row for spoilt in SPOILT for row in (spoilt, spoilt + ORACLE)],
        columns=HINTS,
        of=("hints are", "hints"),
        cell=hints,
    ),
    "hints-by-family": ProbeTable(
        what="several hints, by the family of the rule",
        title="several hints, clean and spoilt, by the family of the rule; ignoring it gives 50",
        rows=[f"{family}, {spoilt}" for family in AFFINE for spoilt in SPOILT],
        columns=HINTS,
        of=("rule, hints are", "hints"),
        cell=hints_by_family,
    ),
    "backwards": ProbeTable(
        what="the same puzzles backwards",
        title="the same puzzles backwards, by the family of the rule that is undone",
        rows=tuple(BACKWARDS),
        columns=("all", *AFFINE, ALONE),
        of=("solved", "rules"),
        cell=backwards,
    ),
    "chains": ProbeTable(
        what="rules one after another",
        title="rules one after another; guessing among the right objects gives 50",
        rows=[row for rules in ("affine", "rotation") for row in (rules, rules + ORACLE)],
        columns=("1", "2", "3"),
        of=("rules", "in a row"),
        cell=chains,
    ),
    "powers": ProbeTable(
        what="powers, roots and mixes of rotations",
        title="which of 24 rotations a function comes nearest to; chance is 4.2, and 12.5 "
        "within 15°",
        rows=tuple(TARGETS),
        columns=[
            f"{rules}: {near}"
            for rules in ("rotation", "affine")
            for near in ("nearest", "within 15°")
        ],
        of=("function", "model"),
        cell=rotations,
    ),
    "odd-one-out": ProbeTable(
        what="which pair follows another rule",
        title="which pair follows another rule; chance is 33.3, 25 and 20",
        rows=("fine", "oracle"),
        columns=("3", "4", "5"),
        of=("model", "pairs"),
        cell=odd_one_out,
    ),
    "trained-for-it": ProbeTable(
        what="variants of puzzles, with training on them and without",
        title="variants of puzzles, with training on them and without",
        rows=TRAINED_ON,
        columns=tuple(TRAINED_VARIANTS),
        of=("trained on", "variant"),
        cell=trained_for_it,
    ),
    "noticing": ProbeTable(
        what="telling unknown rules from known ones",
        title="families that were not in training, pairs without a rule, no right choice; and "
        "mistakes from right answers",
        rows=tuple(OOD_SCORES),
        columns=(*UNKNOWN, "mistakes"),
        of=("score", "told from puzzles under known rules"),
        cell=noticing,
    ),
    "refusing": ProbeTable(
        what="answering that none of the choices is right",
        title="limits at 5 % false alarms, from training puzzles that were not shown; chance is 5",
        rows=("fine",),
        columns=("nothing", *UNKNOWN),
        of=("model", "what is unknown"),
        cell=refusing,
    ),
    "calibration": ProbeTable(
        what="how sure answers are, and how many are right",
        title="temperature from training puzzles that training has not shown",
        rows=("as it answers", "with a temperature"),
        columns=("affine", "rotation"),
        of=("probabilities", "model"),
        cell=calibration,
    ),
    "slots": ProbeTable(
        what="accuracy without one of the slots",
        title="accuracy without one of the slots, by the family of the hidden rule; ignoring the "
        "rule gives 50",
        rows=("all slots", *(f"without {slot}" for slot in range(FINEConfig().slots))),
        columns=("all", *AFFINE),
        of=("memory", "rules"),
        cell=slots,
    ),
    "figure-map": ProbeTable(
        what="a map of functions",
        title="functions whose nearest neighbour is of the same family, by all their numbers and "
        "on the map; chance is 20",
        rows=("fine",),
        columns=("numbers", "map"),
        of=("model", "nearest by"),
        cell=function_map,
    ),
}
"""The tables by name, in the order in which `all` runs them."""
