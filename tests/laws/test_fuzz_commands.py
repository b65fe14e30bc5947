"""Whatever a command line holds: exit code 0, 1 or 2, no traceback, no escapes, within limits."""

import contextlib
import io
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fine import cli
from support.fuzzing import NUMBERS, TEXTS, limits

OPTIONS = {
    "train": "task rules model set encoder-from protocol epochs batch learning-rate schedule "
    "grad-clip resample-each-epoch augment-images augment-puzzles conjugate continual variant "
    "hints by noise covered train-count test-count size seed validation out resume device threads "
    "data-root",
    "evaluate": "task rules test-count variant hints by noise covered by-rule json sheet device "
    "threads data-root against",
    "puzzles": "task rules variant hints noise covered count start answers out train seed size "
    "redraws data-root",
    "data": "data-root",
    "reproduce": "list jobs seeds budget models rows columns protocol images epochs batch "
    "learning-rate schedule grad-clip resample-each-epoch augment-images augment-puzzles "
    "conjugate train-count test-count results work cluster device data-root",
    "report": "results out protocol images",
    "solve": "text model explain candidates allow-none out json",
    "apply": "out function hint save canvas resample background overwrite preview jobs anyway json",
    "benchmark": "data each json model model-only out",
    "score": "against by-rule json",
    "submit": "results device threads",
    "export": "help",
    "bench": "compare",
}
LAST = {  # given last, so that it counts: what works should be quick
    "train": "--train-count 4 --test-count 2 --epochs 1 --task folder:images",
    "evaluate": "--test-count 2",
    "puzzles": "--count 1 --task folder:images",
    "reproduce": "--dry-run",
    "bench": "--seconds 1e-9",
}
WORDS = (
    *("fine", "esbn", "rotation", "swap", "folder:images", "finished", "images", "table1", "all"),
    *(
        "show",
        "verify",
        "kiva",
        "arc",
        "folder",
        "cpu",
        "meta",
        "cuda",
        "slots=2",
        "slots=-1",
        "embedding_size=1000000000",
    ),
    *("chain", "anchor", "x.png", "x/y.svg", "1", "0", "-1", "2h", "nan", "1e999", "--"),
)
VALUES = (st.sampled_from(WORDS) | TEXTS | NUMBERS.map(str)).map(
    lambda text: text.replace("\0", "")  # which no system passes on
)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(sorted(OPTIONS)))
    words = [command, *draw(st.lists(VALUES, max_size=2))]
    known = st.sampled_from(OPTIONS[command].split())
    for option in draw(st.lists(known, max_size=4, unique=True)):
        words += [f"--{option}", *draw(st.lists(VALUES, max_size=2))]
    return words + LAST.get(command, "").split()


@pytest.mark.slow
@given(command_lines() | st.lists(VALUES, max_size=4))
def test_command_lines(fuzzed_runs, words):
    code, said = run(fuzzed_runs, words)
    assert code in (0, 1, 2), said
    assert "Traceback" not in said
    assert all(line.isprintable() for line in said.split("\n")), said


@pytest.mark.parametrize("command", OPTIONS)
def test_the_options_are_those_of_the_command(fuzzed_runs, command):
    _, said = run(fuzzed_runs, [command, "--help"])
    assert not [option for option in OPTIONS[command].split() if f"--{option}" not in said]


def run(folder, words: list[str]) -> tuple[object, str]:
    """The exit code of a command in a folder, and all that it printed."""
    said, code, threads = io.StringIO(), 0, torch.get_num_threads()
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        stack.callback(torch.set_num_threads, threads)
        stack.enter_context(limits())
        patch.chdir(folder)
        patch.setenv("FINE_DATA", str(folder / "nowhere"))
        patch.setattr(sys, "argv", ["fine", *words])
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    return code, said.getvalue()
