"""The program as a whole: commands, help, and command lines that cannot be read."""

import inspect
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fine.cli import _ending_at_once, commands
from fine.cli.commands import COMMANDS, RENAMED
from fine.continual import STRATEGIES
from fine.experiments.catalogue import EXPERIMENTS
from fine.models.registry import MODELS
from fine.puzzles.task import PRESETS
from fine.puzzles.variant_kinds import VARIANTS
from fine.puzzles.variants import DIRECTIONS
from fine.rules import FAMILIES
from fine.rules.strings import STRING_FAMILIES
from fine.training import PROTOCOLS
from fine.version import __version__
from support.folders import contents
from support.fuzzing import HOSTILE


def test_without_arguments_the_program_shows_its_commands(fine):
    code, out, err = fine()
    assert code == 0 and not err and out == fine("--help").out
    assert all(f"• {command} " in out for command in COMMANDS)


def test_help_shows_the_commands_as_they_describe_themselves():
    for name in COMMANDS:
        described = inspect.getdoc(commands._command(name))
        assert described == inspect.getdoc(commands._outline(name)) and described


def test_the_program_says_its_version(fine):
    assert fine("--version") == (0, f"fine {__version__}\n", "")
    assert "--version" in fine("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_every_option(fine, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")  # one line an option
    code, out, err = fine(command, "--help")
    assert code == 0 and not err and out.startswith(f"usage: fine {command}")
    lines = [line.strip("│ ") for line in out.splitlines() if line.startswith("│ --")]
    unexplained = [line for line in lines if len(line.split()) < 4]
    assert not unexplained and "None" not in out and "''" not in out


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("train", [*PRESETS, *FAMILIES, *STRING_FAMILIES, *MODELS, *PROTOCOLS, *STRATEGIES]),
        ("train", [*VARIANTS, *DIRECTIONS]),
        ("evaluate", [*VARIANTS, *DIRECTIONS]),
        ("puzzles", [*PRESETS, *FAMILIES, *STRING_FAMILIES, *VARIANTS]),
        ("reproduce", [*EXPERIMENTS, *PROTOCOLS]),
        ("report", [*EXPERIMENTS, *PROTOCOLS]),
    ],
)
def test_help_lists_all_there_is_to_choose_from(fine, command, names):
    words = fine(command, "--help").out.replace("│", " ").split()
    assert not {*names} - {word.strip(",.;:()") for word in words}


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_option_of_earlier_versions_is_refused_with_its_new_name(refused, old, new):
    for arguments in ([old, "1"], [f"{old}=1"]):
        assert refused("train", *arguments) == f"error: {old} is called {new} now: use that\n"


def test_no_command_has_an_option_with_an_old_name(fine):
    shown = {
        word.strip(",│") for command in COMMANDS for word in fine(command, "--help").out.split()
    }
    assert not shown & RENAMED.keys() and shown >= {*RENAMED.values()}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["trian"], "trian"),
        (["train", "--epoch", "3"], "--epoch"),
        (["train", "--epochs", "many"], "--epochs"),
        (["puzzles", "--count", "many"], "--count"),
        (["evaluate"], "RUN"),
        (["data", "fetch"], "fetch"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_refused_with_the_part_that_is_wrong(
    fine, arguments, named
):
    code, out, err = fine(*arguments)
    assert code == 2 and not out and named in err and "--help" in err and "Traceback" not in err
    assert not contents(Path())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_option_is_refused_with_where_all_options_are(fine, command):
    code, out, err = fine(command, "--no-such-option")
    assert code == 2 and not out and f"fine {command} --help" in err


def test_an_option_before_the_command_is_refused_with_the_commands_that_have_it(fine):
    code, out, err = fine("--noise", "0.1", "train")
    assert code == 2 and not out and "in fine train --help" in err and "fine --help" in err


def test_a_completion_for_an_unknown_shell_is_refused_in_one_line(refused):
    assert "but got 4dos" in refused("train", "--tyro-print-completion", "4dos")


@pytest.mark.parametrize(
    "arguments",
    [
        ["{}"],
        ["--{}"],
        ["{}", "train"],
        ["train", "{}"],
        ["train", "--{}", "3"],
        ["train", "--epochs", "{}"],
        ["train", "--task", "{}", "--epochs", "x"],
        ["data", "{}"],
        ["data", "show", "{}"],
        ["evaluate", "{}"],
        ["solve", "{}"],
        ["report", "--results", "{}"],
        ["bench", "--compare", "{}"],
    ],
)
def test_no_command_line_can_write_to_the_terminal(fine, arguments):
    code, out, err = fine(*(argument.format("".join(HOSTILE)) for argument in arguments))
    assert code == 2 and all(line.isprintable() for line in (out + err).split("\n"))


@pytest.mark.parametrize("command", ["evaluate", "slots", "calibrate"])
def test_a_name_too_long_for_a_file_is_refused_in_one_line(refused, command):
    message = refused(command, "9" * 300)
    assert "9" * 300 in message and "(File name too long): give " in message


@pytest.mark.slow
def test_a_command_imports_nothing_of_the_others(workplace):
    program = (
        "import sys\n"
        "from fine.cli import main\n"
        "sys.argv = ['fine', 'train', '--help']\n"
        "try:\n    main()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    imported = set(done.stderr.split())
    assert done.returncode == 0 and "fine.cli.train" in imported
    others = ("fine.experiments", "fine.report", "fine.bench", "fine.demo", "fine.analysis", "ray")
    assert not imported & {*others, "matplotlib.pyplot", "umap", "fastapi"}


def in_a_new_process(program: str) -> subprocess.CompletedProcess[str]:
    """Python that runs a program; fine is not imported yet."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["trian"]])
def test_what_needs_no_torch_does_not_wait_for_it(arguments):
    done = in_a_new_process(
        "import sys\n"
        f"sys.argv = ['fine', *{arguments}]\n"
        "from fine.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    imported = set(done.stderr.split())
    assert "fine.cli.commands" in imported and "fine.cli.train" not in imported
    assert not imported & {"torch", "numpy", "PIL", "matplotlib", "huggingface_hub", "fastapi"}


INTERRUPTED = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in background jobs

class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass  # a moment for Python to notice

sys.meta_path.insert(0, Interrupting())
sys.argv = ["fine", "train", "--help"]
from fine.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["tyro", "rich.console", "torch", "torch.nn", "fine.cli.train", "fine.training"]
)
def test_ctrl_c_while_the_program_starts_ends_it_without_a_word(module):
    done = in_a_new_process(INTERRUPTED.format(module=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_is_as_before_once_all_is_imported():
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with _ending_at_once():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)


def test_ctrl_c_that_is_ignored_stays_so():
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with _ending_at_once():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, handler)


def test_the_program_can_run_in_a_thread():
    begun = []

    def run() -> None:
        with _ending_at_once():
            begun.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert begun


@pytest.mark.parametrize("arguments", [["data"], ["puzzles", "--count", "1"]])
def test_ctrl_c_in_a_command_is_exit_code_130(fine, monkeypatch, arguments):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    kind = commands._command(arguments[0])
    monkeypatch.setattr(kind, "run", interrupt)
    code, out, err = fine(*arguments)
    assert (code, out, err) == (130, "", "")
