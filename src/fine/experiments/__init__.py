"""Tables and figures as data, a ledger of results, and a runner for the cells that are missing.

experiment = make_experiment("table1")
print(markdown(compare(experiment, Ledger(Path("results/ledger")))))

What is in a table: catalogue.py, with paper_tables.py, probe_tables.py, extensions.py and
same_budget.py.
A cell, its key and its result: cells.py, keys.py, ledger.py. How cells run: runner.py,
executors.py, worker.py and, for probes, measures.py. Results beside the paper's: comparison.py,
supplements.py.
"""

from fine.experiments.catalogue import EXPERIMENTS, make_experiment
from fine.experiments.cells import Cell
from fine.experiments.comparison import Comparison, Entry, compare, markdown
from fine.experiments.experiment import Experiment, Place
from fine.experiments.ledger import Ledger
from fine.experiments.paper import CONTRADICTIONS, Quoted
from fine.experiments.records import Failure, Record

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
