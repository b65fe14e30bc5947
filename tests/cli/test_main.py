"""The program as a whole: commands, help, and command lines that cannot be read."""

import subprocess
import sys
from pathlib import Path

import pytest

from fine.cli import COMMANDS, RENAMED
from fine.continual import STRATEGIES
from fine.experiments.catalogue import EXPERIMENTS
from fine.models.registry import MODELS
from fine.puzzles.task import PRESETS
from fine.puzzles.variant_kinds import VARIANTS
from fine.puzzles.variants import DIRECTIONS
from fine.rules import FAMILIES
from fine.rules.strings import STRING_FAMILIES
from fine.training import PROTOCOLS
from support.folders import contents


def test_without_arguments_the_program_shows_its_commands(fine):
    code, out, err = fine()
    assert code == 0 and not err and out == fine("--help").out
    assert all(f"• {command} " in out for command in COMMANDS)


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


@pytest.mark.parametrize("command", ["evaluate", "slots", "calibrate"])
def test_a_name_too_long_for_a_file_is_refused_in_one_line(refused, command):
    message = refused(command, "9" * 300).replace("/config.json", "")
    assert "9 cannot be used (File name too long)" in message


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
