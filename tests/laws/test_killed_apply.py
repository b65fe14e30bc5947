"""However `fine apply` is stopped, no result is half written, and a second run does the rest.

FINE_THOROUGH=1 tries twenty moments, as `make reliability` does.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fine import cli
from fine.apply.record import NAME
from fine.cli import apply as command
from fine.inference import Registered, RuleFunction
from fine.rules import FAMILIES, Rule
from fine.rules.rule_map import RuleMap
from support.processes import SERVER

MOMENTS = 20 if os.environ.get("FINE_THOROUGH") == "1" else 4
COUNT = 16

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path) -> Path:
    """Images of noise, a few in a folder inside, and an example that nobody looks at closely."""
    noise = np.random.default_rng(0)
    (tmp_path / "photos" / "deep").mkdir(parents=True)
    for number in range(COUNT):
        pixels = noise.integers(256, size=(160, 240, 3), dtype=np.uint8)
        place = "deep/" if number % 3 == 0 else ""
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{place}{number:02}.png")
    Image.fromarray(pixels).save(tmp_path / "example.png")
    return tmp_path


def fine_apply(folder: Path, out: str) -> None:
    """The command, with a rule that is found at once: most of its life is reading and writing."""
    found = Registered(RuleMap((Rule(FAMILIES["rotation"], (30.0,)),)), ((0.1,),), 0.0)
    command.function = lambda *_, **__: RuleFunction(found)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["fine", "apply", "example.png", "example.png", "photos", "--out", out]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def results(out: Path) -> dict[str, bytes]:
    """All files that somebody would take for results."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*.png")
        if not path.name.startswith(".")
    }


def finish(folder: Path, out: str) -> None:
    process = SERVER.Process(target=fine_apply, args=(folder, out))
    process.start()
    process.join()
    assert process.exitcode == 0


def test_killed_at_random_moments_no_file_is_half_written(folder, record_property):
    finish(folder, "first")  # which also starts the server
    started = time.monotonic()
    finish(folder, "calm")
    a_run = time.monotonic() - started
    calm = results(folder / "calm")
    assert len(calm) == COUNT
    moments, killed, runs = random.Random(0), 0, 0
    while killed < MOMENTS:
        victim = SERVER.Process(target=fine_apply, args=(folder, f"killed{runs}"))
        victim.start()
        victim.join(moments.uniform(0.2 * a_run, 0.9 * a_run))
        victim.kill()
        victim.join()
        killed += victim.exitcode == -signal.SIGKILL
        there = results(folder / f"killed{runs}")
        assert there.items() <= calm.items(), "a result is half written"
        if len(there) == COUNT:
            runs += 1
    finish(folder, f"killed{runs}")
    for run in range(runs + 1):
        out = folder / f"killed{run}"
        assert results(out) == calm
    hidden = [path.name for path in out.rglob(".*")]
    assert hidden == [NAME], "a killed process left something behind"
    record_property("figure", f"{killed} kills, {runs + 1} folders of {COUNT} results")


def test_ctrl_c_ends_with_130_and_whole_files(folder):
    finish(folder, "calm")
    victim = SERVER.Process(target=fine_apply, args=(folder, "stopped"))
    victim.start()
    while not results(folder / "stopped"):
        assert victim.is_alive()
        time.sleep(0.005)
    os.kill(victim.pid, signal.SIGINT)
    victim.join()
    there, calm = results(folder / "stopped"), results(folder / "calm")
    assert victim.exitcode == 130 or len(there) == COUNT
    assert there.items() <= calm.items() and not list((folder / "stopped").rglob(".*.part"))
    finish(folder, "stopped")
    assert results(folder / "stopped") == calm
