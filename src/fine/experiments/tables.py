"""The experiments by name: rows × columns of cells, each beside the number the paper has for it.

    experiment = make_experiment("table1")                         # as the paper has it, trained with the quick protocol
    experiment = make_experiment("table1", images="glyphs")        # over generated pictures: other tasks, so no paper numbers

What differs between places of a table is the model, its settings and the task; how long and how fast they are trained is the
same for all, and so are the puzzles, but for `OURS_THROUGH`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fine.errors import unknown
from fine.experiments.cells import Cell
from fine.experiments.paper import ENCODERS, EXTREME, FAMILIES, QUOTED, SIZES, Quoted
from fine.protocols import PROTOCOLS, Training
from fine.runs import RunConfig
from fine.strings import SETTINGS as STRING_SETTINGS
from fine.tasks import PRESETS, Task

COMPARED = ("relation-net", "predi-net", "hyper-net", "transformer", "esbn")
"""Models the paper compares FINE with, in its order."""

LABELS = {
    "relation-net": "RelationNet",
    "predi-net": "PrediNet",
    "hyper-net": "HyperNet",
    "transformer": "Transformer",
    "esbn": "ESBN",
    "fine-mlp": "FINE-MLP",
    "fine-nice": "FINE-NICE",
    "fine": "FINE (ours)",
    "affine": "multi-affine",
    "p4-cnn": "p4-CNN",
    "resnet": "3-layer ResNet",
    "mlp": "2-layer MLP",
    "strings": "new strings",
    "strings-longer": "longer ones",
    "strings-letters": "new letters",
    "strings-permuted": "another alphabet",
}
"""How names are shown, where not as they are."""

OURS: dict[str, dict[str, Any]] = {
    "wave": {"code": 1024, "slots": 4},
    "shear": {"backbone": "residual", "keys": "shared"},
    "unseen rotation": {"symmetry": "apart", "slots": 1},
    "unseen shear": {"thorough": True},
    "cifar100 translation": {"standardise": "pair"},
    "cifar100 shear": {"standardise": "pair"},
}
"""Settings of `fine` by rules, and by the pictures of the test, where others than its own did better on classes and rules of
training that were held back (docs/log.md)."""

OURS_THROUGH = {"unseen shear": 0.5}
"""Share of the puzzles that `fine` is shown through a rule of the training, where that did better in the same trials."""

FUNCTIONS = {
    "hints": "several hints, clean and spoilt",
    "backwards": "the same puzzles backwards",
    "chains": "rules one after another",
    "powers": "powers, roots and mixes of rotations",
    "odd-one-out": "which pair follows another rule",
    "noticing": "telling what is strange from what is known",
    "refusing": "saying that none of these is right",
    "calibration": "how sure answers are, and how many are right",
    "slots": "what is lost without a slot",
    "figure-map": "a map of functions",
}
"""What functions can do, with no training for it: tables of ours, which the paper does not have."""

SLOTS = (0, 4, 8, 16, 32, 48, 64)
LAYERS = (0, 2, 4, 6)
"""The grid of figure-memories; the paper draws 0 to 64 slots and 0 to 6 layers, and does not name the steps."""


ARRIVING = ("joint", "anchor", "anchor after warps", "plain", "grow", "rehearsal")
"""Rows of `continual`: how nine families are learnt, all together first."""

SLOT_FORMS: dict[str, dict[str, Any]] = {
    "full": {},
    **{f"rank-{rank}": {"slot_form": f"rank-{rank}"} for rank in (8, 4, 2, 1)},
    "kronecker": {"slot_form": "kronecker"},
    "one for two layers": {"backbone": "residual", "keys": "shared"},
}
"""Rows of `memory`: how slots are stored."""

GRIDS: dict[str, dict[str, Any]] = {"16 rows": {}, "64 rows": {"code": 1024, "slots": 4}}
"""Columns of `memory`: places in a code, hence the size of a slot; with 64 rows a slot has 4,096 numbers."""


@dataclass(frozen=True)
class Place:
    """One place of a table: a row, a column, the cell that belongs there (with seed 0) and what the paper has."""

    row: str
    column: str
    cell: Cell
    paper: Quoted | None = None


@dataclass(frozen=True)
class Experiment:
    """A table or figure as rows × columns of cells."""

    name: str
    title: str
    row_title: str
    """What the rows are."""
    column_title: str
    """What the columns are."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    places: tuple[Place, ...]
    """Column by column, so that the models of a column are run one after the other."""
    measured: str = "Test accuracy in %"
    """What the numbers are."""

    @property
    def probed(self) -> bool:
        """Whether its cells are probes of trained models, which have no training of their own to show."""
        return any(place.cell.probe for place in self.places)

    def place(self, row: str, column: str) -> Place:
        return next(place for place in self.places if (place.row, place.column) == (row, column))

    def select(self, *, models: Iterable[str] = (), columns: Iterable[str] = ()) -> tuple[Place, ...]:
        """The places with these models and in these columns; none named: all."""
        return tuple(select((self,), models=models, columns=columns))

    def change(self, **task: Any) -> "Experiment":
        """The same with other tasks: `train_count=100, test_count=50`."""

        def changed(place: Place) -> Place:
            cell, own = place.cell, dict(task)
            if cell.probe is not None and "test_count" in own:  # a run is tested as ever, whatever is asked of it besides
                cell = replace(cell, probe=replace(cell.probe, count=own.pop("test_count")))
            return replace(place, cell=replace(cell, config=replace(cell.config, task=replace(cell.config.task, **own))))

        return replace(self, places=tuple(map(changed, self.places)))


def label(name: str) -> str:
    """How a row or column is called where people read it."""
    return LABELS.get(name, f"{int(name):,}" if name.isdigit() else name)


def select(
    experiments: Sequence[Experiment],
    *,
    models: Iterable[str] = (),
    columns: Iterable[str] = (),
    rows: Iterable[str] = (),
) -> list[Place]:
    """The places of some experiments with these models, in these columns and rows; none named: all."""
    places = every = [place for experiment in experiments for place in experiment.places]
    whose = " or ".join(experiment.name for experiment in experiments)
    kinds: tuple[tuple[str, Iterable[str], Callable[[Place], str]], ...] = (
        ("model", models, lambda place: place.cell.config.model),
        ("column", columns, lambda place: place.column),
        ("row", rows, lambda place: place.row),
    )
    for kind, named, of in kinds:
        there, wanted = {of(place) for place in every}, set(named)
        for name in sorted(wanted - there):
            raise unknown(f"{kind} of {whose}", name, sorted(there))
        places = [place for place in places if not wanted or of(place) in wanted]
    return places


def cells(places: Iterable[Place], *, seeds: int = 1) -> list[Cell]:
    """The cells of some places for seeds 0, 1, …: the first seed of all of them first, and no cell twice."""
    wanted = [place.cell.with_seed(seed) for seed in range(seeds) for place in places]
    return list({cell.key: cell for cell in wanted}.values())


def _settings(model: str, task: Task) -> dict[str, Any]:
    """Those settings of a model for a task that are not its own defaults."""
    return {key: value for name in _names(model, task) for key, value in OURS.get(name, {}).items()}


def _names(model: str, task: Task) -> tuple[str, ...]:
    """What `OURS` may call a task, if the model is ours."""
    rules, pictures = task.rules.removesuffix(":seen"), task.test_images or task.images
    return (rules, f"unseen {rules}" if task.test_rules else "", f"{pictures} {rules}") if model == "fine" else ()


Configure = Callable[[str, str], RunConfig]
"""(row, column) -> the run that belongs there, with seed 0."""


def _experiment(
    name: str, title: str, rows: Sequence[str], columns: Sequence[str], configure: Configure, *, of: tuple[str, str]
) -> Experiment:
    quoted = QUOTED.get(name, {})
    places = tuple(
        Place(row, column, Cell(configure(row, column)), quoted.get(row, {}).get(column)) for column in columns for row in rows
    )
    return Experiment(name, title, *of, tuple(rows), tuple(columns), places)


def _by_family(name: str, source: str, columns: Sequence[str], training: Training, images: str) -> Experiment:
    """Tables 1 and 2: models × rules."""

    def configure(model: str, rules: str) -> RunConfig:
        task = Task.preset(images or source, rules=rules)
        return RunConfig(model=model, task=task, training=training, settings=_settings(model, task))

    title = f"{images or source}: classes never seen in training"
    return _experiment(name, title, (*COMPARED, "fine-mlp", "fine-nice", "fine"), columns, configure, of=("model", "rules"))


def _by_encoder(training: Training, images: str) -> Experiment:
    """Table 3: models × encoders."""

    def configure(model: str, encoder: str) -> RunConfig:
        task = Task.preset(images or "cifar100", rules="affine")
        return RunConfig(model=model, task=task, training=training, settings={**_settings(model, task), "encoder": encoder})

    rows = (*(model for model in COMPARED if model != "hyper-net"), "fine-mlp", "fine-nice", "fine")
    title = f"{images or 'cifar100'}, multi-affine: three encoders"
    return _experiment("table3", title, rows, ENCODERS, configure, of=("model", "encoder"))


def _extreme(training: Training, images: str) -> Experiment:
    """Table 4: models × (pictures, rules), tested on rules never seen and, in six columns, on pictures of another kind."""

    def configure(model: str, column: str) -> RunConfig:
        pictures, _, rules = column.rpartition("-")
        task = _unseen_rules(images, rules) if images else Task.preset(f"extreme-{pictures}", rules=rules)
        through = max(training.through, *(OURS_THROUGH.get(name, 0) for name in _names(model, task)), 0)
        how = replace(training, through=through)
        return RunConfig(model=model, task=task, training=how, settings=_settings(model, task))

    columns = tuple(f"{images}-{rules}" for rules in ("translation", "rotation", "shear")) if images else EXTREME
    title = "rules never seen in training, and pictures from elsewhere"
    return _experiment("table4", title, (*COMPARED, "fine-nice", "fine"), columns, configure, of=("model", "pictures-rules"))


def _unseen_rules(images: str, rules: str) -> Task:
    """The extreme task over other pictures."""
    task = Task.preset(images, rules=f"{rules}:seen")
    return replace(task, test_rules=f"{rules}:unseen", train_count=PRESETS["extreme-cifar100"].train_count)


def _memories(training: Training, images: str) -> Experiment:
    """NICE layers × slots of a memory."""

    def configure(layers: str, slots: str) -> RunConfig:
        task, settings = Task.preset(images or "cifar100", rules="affine"), {"slots": int(slots), "layers": int(layers)}
        return RunConfig(model="fine-nice", task=task, training=training, settings=settings)

    title = f"{images or 'cifar100'}, multi-affine: slots of a memory and layers of NICE"
    rows, columns = tuple(map(str, LAYERS)), tuple(map(str, SLOTS))
    return _experiment("figure-memories", title, rows, columns, configure, of=("NICE layers", "slots"))


def _by_size(name: str, rows: Sequence[str], sizes: Sequence[str], training: Training, images: str) -> Experiment:
    """Models × numbers of training puzzles."""

    def configure(model: str, size: str) -> RunConfig:
        task = replace(Task.preset(images or "cifar100", rules="affine"), train_count=int(size))
        return RunConfig(model=model, task=task, training=for_size(training, int(size)), settings=_settings(model, task))

    title = f"{images or 'cifar100'}, multi-affine: training puzzles"
    return _experiment(name, title, rows, sizes, configure, of=("model", "training puzzles"))


def _strings(training: Training, images: str) -> Experiment:
    """Models × tests on strings; those over pictures have no place here, so ``images`` changes nothing."""

    quick = replace(training, epochs=PROTOCOLS["quick"].epochs) == PROTOCOLS["quick"]
    training = replace(PROTOCOLS["strings"], epochs=training.epochs) if quick else training

    def configure(model: str, column: str) -> RunConfig:
        settings = STRING_SETTINGS if model == "fine" else {}
        return RunConfig(model=model, task=Task.preset(column, rules="all"), training=training, settings=settings)

    columns = ("strings", "strings-longer", "strings-letters", "strings-permuted")
    title = "letter strings, eleven families together: four tests of what is new"
    return _experiment("strings", title, ("transformer", "fine"), columns, configure, of=("model", "test"))


def _continual(training: Training, images: str) -> Experiment:
    """How nine families are learnt × pictures."""

    def configure(row: str, pictures: str) -> RunConfig:
        arrival, _, first = row.partition(" after ")
        task = replace(Task.preset(pictures, rules="all"), train_count=20_000, test_count=4_500)
        if first:
            task = replace(task, rules=f"{first}+all", test_rules="all")
        # As many slots as a family needs by itself, for each of them; and as many as all of them need together.
        families = 10 if first else 9
        settings: dict[str, Any] = {"slots": 16}
        if arrival in ("anchor", "grow"):
            settings = {"slots": 8 * families, "groups": families}
        if pictures == "cifar100":
            settings["standardise"] = "pair"  # what is best for photographs that are moved and sheared
        how = replace(training, epochs=max(1, training.epochs // 2), arrival="" if arrival == "joint" else arrival)
        return RunConfig(model="fine", task=task, training=how, settings=settings)

    columns = (images,) if images else ("omniglot", "cifar100")
    title = "nine families, one after another, tested on all of them at the end"
    return _experiment("continual", title, ARRIVING, columns, configure, of=("arrival", "pictures"))


def _small_memories(training: Training, images: str) -> Experiment:
    """Forms of slots × their size."""

    def configure(form: str, grid: str) -> RunConfig:
        task = replace(Task.preset(images or "omniglot", rules="affine"), train_count=5_000, test_count=5_000)
        how = replace(training, epochs=max(1, training.epochs * 2 // 3))
        return RunConfig(model="fine", task=task, training=how, settings={**GRIDS[grid], **SLOT_FORMS[form]})

    title = f"{images or 'omniglot'}, multi-affine: slots of fewer numbers"
    return _experiment("memory", title, tuple(SLOT_FORMS), tuple(GRIDS), configure, of=("slots", "code"))


def for_size(training: Training, size: int) -> Training:
    """How to train on more or fewer puzzles than 10,000.

    With a constant rate, for as many epochs, as the paper does. With one-cycle, whose length is chosen in puzzles shown: fewer
    than 10,000 are shown as often as 10,000 would be altogether, and more than 100,000 no more often than 100,000.
    """
    if training.schedule == "constant":
        return training
    shown = training.epochs * min(max(size, 10_000), 100_000)
    return replace(training, epochs=max(1, round(shown / size)))


def _about_functions(name: str, training: Training, images: str) -> Experiment:
    """A table of docs/functions.md: what functions of trained models can do."""
    from fine.experiments.functions import TABLES  # late, because those tables are made of what is here

    return TABLES[name](name, training, images)


Make = Callable[[Training, str], Experiment]

EXPERIMENTS: dict[str, tuple[str, Make]] = {
    "table1": ("Omniglot: nine families, and five together", partial(_by_family, "table1", "omniglot", (*FAMILIES, "affine"))),
    "table4": ("rules never seen, and pictures of another kind", _extreme),
    "table2": ("CIFAR-100: nine families", partial(_by_family, "table2", "cifar100", FAMILIES)),
    "table3": ("CIFAR-100, five families together: three encoders", _by_encoder),
    "figure-memories": ("slots of a memory × NICE layers", _memories),
    "figure-training-size": (
        "100 to 100,000 training puzzles",
        partial(_by_size, "figure-training-size", ("transformer", "esbn", "fine-nice", "fine"), SIZES),
    ),
    "scaling": (
        "10,000 to 1,000,000 training puzzles",
        partial(_by_size, "scaling", ("fine-nice", "fine-mlp", "fine"), ("10000", "100000", "1000000")),
    ),
    **{name: (title, partial(_about_functions, name)) for name, title in FUNCTIONS.items()},
    "strings": ("letter strings: new ones, longer ones, new letters, another alphabet", _strings),
    "continual": ("nine families, one after another", _continual),
    "memory": ("slots of fewer numbers", _small_memories),
}
"""What each is and how it is made, in the order in which `all` runs them."""


def make_experiment(name: str, *, training: Training = PROTOCOLS["quick"], images: str = "") -> Experiment:
    """The experiment called ``name``, trained this way; ``images`` puts another image source in the place of the paper's."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    made = EXPERIMENTS[name][1](replace(training, seed=0), images)
    if images:
        return replace(made, places=tuple(replace(place, paper=None) for place in made.places))
    return made
