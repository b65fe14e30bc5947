"""The paper's tables and figures: what is in them as data, a ledger of results, and a runner for what is missing.

experiment = make_experiment("table1")
print(markdown(compare(experiment, Ledger(Path("results/ledger")))))
"""

from fine.experiments.catalogue import EXPERIMENTS, make_experiment
from fine.experiments.cells import Cell
from fine.experiments.comparison import Comparison, Entry, compare, markdown
from fine.experiments.experiment import Experiment, Place
from fine.experiments.ledger import Failure, Ledger, Record
from fine.experiments.paper import CONTRADICTIONS, Quoted

__all__ = [
    "CONTRADICTIONS",
    "EXPERIMENTS",
    "Cell",
    "Comparison",
    "Entry",
    "Experiment",
    "Failure",
    "Ledger",
    "Place",
    "Quoted",
    "Record",
    "compare",
    "make_experiment",
    "markdown",
]
