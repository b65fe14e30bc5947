"""An experiment: a table or figure as rows × columns of cells, each beside the paper's number."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fine.errors import unknown
from fine.experiments.cells import Cell
from fine.experiments.paper import QUOTED, Quoted
from fine.experiments.probes import METRICS
from fine.training.run import RunConfig

LABELS = {
    "relation-net": "RelationNet",
    "predi-net": "PrediNet",
    "hyper-net": "HyperNet",
    "transformer": "Transformer",
    "esbn": "ESBN",
    "fine-mlp": "FINE-MLP",
    "fine-nice": "FINE-NICE",
    "fine": "FINE (ours)",
    "fine-pyramid": "FINE on two grids (ours)",
    "corel-net": "CoRelNet",
    "abstractor": "Abstractor",
    "inlay": "InLay",
    "dual-attention": "dual attention",
    "vit": "ViT",
    "omniglot": "Omniglot",
    "cifar100": "CIFAR-100",
    "mnist": "MNIST",
    "affine": "multi-affine",
    "p4-cnn": "p4-CNN",
    "resnet": "3-layer ResNet",
    "mlp": "2-layer MLP",
    "strings": "new strings",
    "strings-longer": "longer ones",
    "strings-letters": "new letters",
    "strings-permuted": "another alphabet",
    "misfit of the hint": "residual of the hint",
    "turned": "augmented images",
}
"""Names as tables show them, where they differ."""


@dataclass(frozen=True)
class Place:
    """One place of a table: its row and column, its cell (with seed 0) and the paper's number.

    Examples:
        >>> from fine.experiments import make_experiment
        >>> place = make_experiment("table1").place("esbn", "rotation")
        >>> print(place.cell.key, place.paper)
        omniglot_rotation_esbn_10000x6_710b7a5b_seed0 58.6 ± 1.0
    """

    row: str
    """Name of the row, most often a model."""
    column: str
    """Name of the column, most often a task."""
    cell: Cell
    """What is run there, with seed 0."""
    paper: Quoted | None = None
    """The paper's number; None: it has none."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure as rows × columns of cells.

    Examples:
        >>> from fine.experiments import make_experiment
        >>> experiment = make_experiment("table1")
        >>> len(experiment.rows), len(experiment.columns)
        (9, 10)
        >>> [place.row for place in experiment.select(models=["esbn"], columns=["rotation"])]
        ['esbn']
    """

    name: str
    """What `fine reproduce` calls it."""
    title: str
    """What it shows."""
    row_title: str
    """What the rows are."""
    column_title: str
    """What the columns are."""
    rows: tuple[str, ...]
    """Names of the rows."""
    columns: tuple[str, ...]
    """Names of the columns."""
    places: tuple[Place, ...]
    """Column by column, so that the models of a column are run one after the other."""

    @property
    def metric(self) -> str:
        """What the numbers are, one of `METRICS`."""
        return self.places[0].cell.metric

    @property
    def measured(self) -> str:
        """What the numbers are, as the start of a caption."""
        return METRICS[self.metric]

    @property
    def probed(self) -> bool:
        """Whether cells are probes of trained models, which have no training of their own."""
        return any(place.cell.probe for place in self.places)

    def place(self, row: str, column: str) -> Place:
        """The place in this row and column."""
        named = (place for place in self.places if (place.row, place.column) == (row, column))
        return next(named)

    def select(
        self, *, models: Iterable[str] = (), columns: Iterable[str] = ()
    ) -> tuple[Place, ...]:
        """The places with these models and in these columns; none named: all."""
        return tuple(select((self,), models=models, columns=columns))

    def change(self, **task: Any) -> "Experiment":
        """The same with other tasks: `train_count=100, test_count=50`."""

        def changed(place: Place) -> Place:
            cell, own = place.cell, dict(task)
            if cell.probe is not None and "test_count" in own:
                # Only the probe gets other puzzles: the test of its run stays as it is.
                cell = replace(cell, probe=replace(cell.probe, count=own.pop("test_count")))
            config = replace(cell.config, task=replace(cell.config.task, **own))
            return replace(place, cell=replace(cell, config=config))

        return replace(self, places=tuple(map(changed, self.places)))


def label(name: str) -> str:
    """How a row or column is shown."""
    model, comma, rest = name.partition(", ")
    if comma and model in LABELS:
        return f"{LABELS[model]}, {rest}"
    return LABELS.get(name, f"{int(name):,}" if name.isdigit() else name)


def select(
    experiments: Sequence[Experiment],
    *,
    models: Iterable[str] = (),
    columns: Iterable[str] = (),
    rows: Iterable[str] = (),
) -> list[Place]:
    """The places of some experiments with these models, columns and rows; none named: all."""
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
    """The cells of some places for seeds 0, 1, …: seed 0 of all of them first, no cell twice."""
    places = list(places)
    wanted = [place.cell.with_seed(seed) for seed in range(seeds) for place in places]
    return list({cell.key: cell for cell in wanted}.values())


Configure = Callable[[str, str], RunConfig]
"""(row, column) -> the run that belongs there, with seed 0."""


def arranged(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    configure: Configure,
    *,
    of: tuple[str, str],
) -> Experiment:
    """An experiment with one run in each place, beside the paper's number for it."""
    quoted = QUOTED.get(name, {})
    places = tuple(
        Place(row, column, Cell(configure(row, column)), quoted.get(row, {}).get(column))
        for column in columns
        for row in rows
    )
    return Experiment(name, title, *of, tuple(rows), tuple(columns), places)
