"""Local processes: however a cell's process ends, it is heard, and stopping ends all of them."""

import sys

import pytest

from fine.experiments import Cell, make_experiment
from fine.experiments.executors import Event, Failed, Finished, LocalProcesses, Step
from support.experiments import FOUR

TROUBLE = "print('some trouble'); raise SystemExit(3)"


def end(executor: LocalProcesses) -> Event:
    """How the one running cell ends."""
    event = None
    while event is None or isinstance(event, Step):
        event = executor.next(timeout=30)
        assert event is not None, "nothing happens"
    return event


def running(folder, script: str) -> LocalProcesses:
    return LocalProcesses(folder / "work", jobs=1, command=(sys.executable, "-c", script))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import os; os.kill(os.getpid(), 9)", "ended with code -9: it said nothing"),
        (TROUBLE, "ended with code 3: some trouble"),
        (
            "import sys; sys.stdin.readline(); raise ValueError('bad')",
            "ended with code 1: ValueError: bad",
        ),
        (
            "import sys; sys.stdin.readline(); print('chatter');"
            """print('{"error": "no luck"}')""",
            "no luck",
        ),
    ],
)
def test_a_process_that_dies_is_a_failure(tmp_path, script, words):
    executor = running(tmp_path, script)
    executor.start(FOUR[0])
    failed = end(executor)
    executor.stop()
    assert isinstance(failed, Failed) and words in failed.error


def test_a_process_that_is_gone_before_it_has_its_cell_is_heard(tmp_path):
    class Late(LocalProcesses):
        def _process(self):
            process = super()._process()
            process.wait()
            return process

    executor = Late(tmp_path / "work", jobs=1, command=(sys.executable, "-c", TROUBLE))
    executor.start(FOUR[0])
    failed = end(executor)
    executor.stop()
    assert isinstance(failed, Failed) and "ended with code 3: some trouble" in failed.error


def test_stopping_ends_processes(tmp_path):
    executor = running(tmp_path, "import time; time.sleep(600)")
    for cell in FOUR[:2]:
        executor.start(cell)
    processes = [process for process, _ in executor.readers.values()]
    executor.stop()
    assert all(process.returncode for process in processes)


def test_probes_share_a_process_and_trainings_do_not(tmp_path):
    script = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    result = {'process': os.getpid()}\n"
        "    print(json.dumps({'result': result, 'curve': []}), flush=True)\n"
    )
    executor = running(tmp_path, script)

    def process_of(cell: Cell) -> int:
        executor.start(cell)
        event = end(executor)
        assert isinstance(event, Finished)
        return event.outcome["result"]["process"]

    probes = [place.cell for place in make_experiment("chains").places[:3]]
    shared = [process_of(cell) for cell in probes]
    alone = [process_of(cell.run.with_seed(seed)) for seed, cell in enumerate(probes)]
    executor.stop()
    assert len(set(shared)) == 1 and len({*shared, *alone}) == 4 and not executor.idle
