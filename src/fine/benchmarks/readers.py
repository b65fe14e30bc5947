"""Benchmarks by name: ours, and those that installed packages announce.

    puzzles = read_benchmark("kiva", Path("KiVA"))

A plug-in of the group `fine.benchmarks` is a function `read(path)` that returns puzzles. ARC is not
among them: there is nothing to choose from (arc.py).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from fine.benchmarks.folder import read_folder
from fine.benchmarks.kiva import read_kiva
from fine.benchmarks.puzzles import BenchmarkPuzzle, check_puzzle, check_some
from fine.errors import FineError, unknown
from fine.plugins import Plugin, find_plugin, plugin_names

PLUGINS = "fine.benchmarks"
READERS: dict[str, Callable[[Path], list[BenchmarkPuzzle]]] = {
    "kiva": read_kiva,
    "folder": read_folder,
}


def benchmark_names() -> list[str]:
    """All names that `read_benchmark` takes."""
    return [*READERS, *(name for name in plugin_names(PLUGINS) if name not in READERS)]


def read_benchmark(name: str, path: Path) -> Sequence[BenchmarkPuzzle]:
    """The puzzles of a benchmark whose data are at ``path``."""
    if name in READERS:
        return READERS[name](path)
    plugin = find_plugin(PLUGINS, name)
    if plugin is None:
        raise unknown("benchmark", name, benchmark_names())
    return _read_plugin(plugin, path)


def _read_plugin(plugin: Plugin, path: Path) -> Sequence[BenchmarkPuzzle]:
    """The puzzles of another package, if they are puzzles."""
    read = plugin.load()
    try:
        puzzles = list(read(path))
    except FineError:
        raise
    except Exception as problem:  # whatever the code of others does
        raise plugin.refuse(f"{type(problem).__name__}: {problem}") from problem
    for puzzle in puzzles:
        if not isinstance(puzzle, BenchmarkPuzzle):
            raise plugin.refuse(f"expected BenchmarkPuzzle, not {type(puzzle).__name__}")
    check_some(puzzles, f"{path} has no puzzles of the benchmark '{plugin.name}'")
    return [check_puzzle(puzzle) for puzzle in puzzles]
