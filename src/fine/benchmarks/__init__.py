"""Tests that others wrote, solved by a trained model.

    puzzles = read_benchmark("kiva", Path("KiVA"))
    outcome = run_benchmark(load("all-glyphs"), puzzles)
    outcome.rows()                       # right answers by concept and parameter, with intervals

puzzles.py says what a puzzle of a benchmark is, kiva.py and folder.py read them, readers.py finds
these and plug-ins by name. running.py has puzzles solved, choosing.py by models of any kind,
records.py knows what others reported. arc.py is apart: its answers are grids, and there is nothing
to choose from.
"""

from fine.benchmarks.arc import ArcOutcome, ArcTask, read_arc, solve_arc
from fine.benchmarks.choosing import Chooser, load_any
from fine.benchmarks.folder import read_folder
from fine.benchmarks.kiva import read_kiva
from fine.benchmarks.puzzles import BenchmarkPuzzle
from fine.benchmarks.readers import benchmark_names, read_benchmark
from fine.benchmarks.running import BenchmarkOutcome, BenchmarkRow, run_benchmark

__all__ = [
    "ArcOutcome",
    "ArcTask",
    "BenchmarkOutcome",
    "BenchmarkPuzzle",
    "BenchmarkRow",
    "Chooser",
    "benchmark_names",
    "load_any",
    "read_arc",
    "read_benchmark",
    "read_folder",
    "read_kiva",
    "run_benchmark",
    "solve_arc",
]
