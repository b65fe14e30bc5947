"""What commands print: text from files and command lines is shown as it is, and can do no harm."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from fine.cli import terminal
from fine.cli.terminal import (
    PlainConsole,
    errors_in_one_line,
    fail,
    print_json,
    say,
)
from fine.errors import FineError
from support.commands import PROGRAM
from support.fuzzing import HOSTILE

ESCAPED = "\x1b[31m\x1b]0;title\x07\x9b2J\rback\u202eedoc\ud800"


@pytest.fixture
def console(monkeypatch) -> PlainConsole:
    """A wide console, as commands have it."""
    monkeypatch.setenv("COLUMNS", "200")
    wide = PlainConsole()
    monkeypatch.setattr(terminal, "console", wide)
    return wide


def in_a_table(text: str) -> Table:
    table = Table(text, title=text, caption=text)
    table.add_row(text)
    return table


@pytest.mark.parametrize("kind", [str, Text, in_a_table])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_console_shows_text_as_text(console, capsys, kind, text):
    console.print(kind(text))
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.split("\n"))
    for part in ("[bold]", "[/]", ":smile:", "[link=https://example.org]"):
        assert (part in out) == (part in text)


def test_styles_are_kept_in_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = PlainConsole()
    console.print(Text.assemble(("error:", "bold red"), f" {ESCAPED}"))
    out = capsys.readouterr().out
    assert out.startswith("\x1b[") and out.count("\x1b") == 2  # on and off again
    assert "�[31m�]0;title�2J" in out and "\u202e" not in out


def test_a_line_stays_one_line_whatever_is_in_it(console, capsys):
    say(f"written to {'far/' * 80}[bold]a\nanswer: B{ESCAPED}", "", "next")
    first, empty, second, end = capsys.readouterr().out.split("\n")
    assert first.startswith("written to far/far/") and "[bold]a answer: B�[31m" in first
    assert first.isprintable() and (empty, second, end) == ("", "next", "")


def test_an_error_is_one_line_with_exit_code_2(capsys):
    with pytest.raises(SystemExit) as stop:
        fail(FineError(f"'[bold]{ESCAPED}' is not good: give another"))
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and not out
    assert err.startswith("error: '[bold]�[31m") and err.count("\n") == 1 and err[:-1].isprintable()


@pytest.mark.parametrize("text", [*HOSTILE, ESCAPED, "45° →\t\U0001f600\U000e0001", 'a"\\'])
def test_json_holds_the_text_and_cannot_move_the_cursor(capsys, text):
    content = {"file": text, text: [1.5, None]}
    print_json(content)
    out = capsys.readouterr().out
    assert json.loads(out) == content
    assert all(line.isprintable() for line in out.split("\n"))


def test_json_keeps_what_can_be_read(capsys):
    print_json({"rule": "rotation 45°"})
    assert '"rule": "rotation 45°"' in capsys.readouterr().out


def refused(problem: BaseException, capsys) -> str:
    """The line that an error of the system ends in."""
    with pytest.raises(SystemExit) as stop, errors_in_one_line():
        raise problem
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "problem",
    [
        MemoryError(),  # Python's own says nothing
        MemoryError("Unable to allocate 9 GiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes"),
    ],
)
def test_too_little_memory_is_one_line(problem, capsys):
    line = refused(problem, capsys)
    assert line.startswith("error: there is not enough memory") and line.count("\n") == 1


def test_a_path_that_the_system_refuses_is_one_line(capsys):
    line = refused(PermissionError(13, "Permission denied", "[bold]/root\x1b"), capsys)
    assert line == "error: [bold]/root� cannot be used (Permission denied): give another path\n"


def test_a_fault_of_the_program_is_no_refusal():
    for problem in (RuntimeError("a bug"), KeyError("a bug"), OSError("a bug")):
        with pytest.raises(type(problem), match="a bug"), errors_in_one_line():
            raise problem


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
@pytest.mark.parametrize("arguments", [["--version"], ["data"]])
def test_output_to_a_full_disk_ends_in_one_line(arguments):
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}  # as on a user's machine
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, env=buffered
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: the disk is full: ") and done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix closes the output")
def test_without_an_output_a_command_still_runs():
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "--version"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_rank_that_is_no_number_is_refused_in_one_line(fine, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "\x1b[31mabc")
    code, out, err = fine("data")
    assert code == 2 and not out and "RANK is '" in err and err.count("\n") == 1
    assert err[:-1].isprintable()


def test_under_torchrun_the_first_process_speaks(fine, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank, speaks in (("0", True), ("1", False), ("0", True)):
        monkeypatch.setenv("RANK", rank)
        assert ("data root" in fine("data").out) == speaks
