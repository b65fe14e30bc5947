"""Whatever one file of other people holds, it is read or refused within 5 seconds and a gigabyte.

The system measures and enforces it, in a process of its own. FINE_THOROUGH=1 tries files that take
as long and as much as they may, as `make reliability` does.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.costly_files import COSTLIEST, EXPLODING, HARMLESS, CostlyFile

PROGRAM = Path(__file__).parents[1] / "support/reading_within_limits.py"
THOROUGH = os.environ.get("FINE_THOROUGH") == "1"
SECONDS, MEGABYTES = 5, 1000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the limits of Linux"),
]


def read_all(folder: Path, files: Sequence[CostlyFile]) -> list[dict[str, Any]]:
    """What became of every file; one process reads them all."""
    arguments: list[str] = []
    for number, (kind, name, make) in enumerate(files):
        path = folder / str(number) / name
        path.parent.mkdir()
        make(path)
        arguments += [kind, str(path)]
    command = [sys.executable, str(PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(outcomes) == len(files), (outcomes[-1:], done.stderr)
    return outcomes


def test_small_files_that_explode(tmp_path: Path) -> None:
    for outcome in read_all(tmp_path, EXPLODING):
        assert outcome["seconds"] < SECONDS and outcome["megabytes"] < MEGABYTES, outcome
        assert (outcome["said"] == "read") == (outcome["name"] in HARMLESS), outcome


@pytest.mark.skipif(not THOROUGH, reason="takes minutes; FINE_THOROUGH=1 runs it")
@pytest.mark.parametrize("file", COSTLIEST, ids=lambda file: f"{file.kind} {file.name}")
def test_the_costliest_files(tmp_path: Path, file: CostlyFile, record_property) -> None:
    (outcome,) = read_all(tmp_path, [file])
    assert outcome["seconds"] < SECONDS and outcome["megabytes"] < MEGABYTES, outcome
    record_property("figure", f"{outcome['seconds']:.1f} s, {outcome['megabytes']:.0f} MB")
