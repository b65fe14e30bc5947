"""Every promise of docs/reliability.md in many cases: python benchmarks/reliability.py

Three parts, one after another, each in a process of its own with one thread: the tests that the
page and SECURITY.md name, at full length; the memory in use over a long run; and the fuzz tests,
for `--minutes`, by default 60. At the end come the figures of all parts once more, as rows for
docs/reliability.md, and how long each part took. A part that fails does not stop the next; then the
exit code is 1.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("docs/reliability.md", "SECURITY.md")
PYTEST = (sys.executable, "-m", "pytest", "--figures")
FUZZED = ("tests/laws", "tests/demo")
ROW = "| "
"""What a line with a figure begins with."""


def named_files() -> list[str]:
    """The files of tests that the pages name; those of the site need the site, by `make docs`."""
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    files = set(re.findall(r"`(tests/[\w/]+\.py)\b", text))
    return sorted(file for file in files if "fuzz" not in file and "tests/site" not in file)


def parts(minutes: float) -> dict[str, tuple[str, ...]]:
    """What each part runs."""
    return {
        "tests at full length": (*PYTEST, "-q", *named_files()),
        "a long run": (sys.executable, "benchmarks/long_run.py"),
        "fuzz tests": (*PYTEST, "-v", "--fuzz-minutes", f"{minutes:g}", *FUZZED),
    }


def run(command: tuple[str, ...]) -> tuple[bool, list[str]]:
    """Whether a command went well, and its lines with figures; all lines are printed as well."""
    environment = {**os.environ, "FINE_THOROUGH": "1", "OMP_NUM_THREADS": "1"}
    rows = []
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith(ROW):
                rows.append(line.rstrip())
    return process.returncode == 0, rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="of fuzz tests")
    summary, all_well = [], True
    for name, command in parts(parser.parse_args().minutes).items():
        started = time.monotonic()
        well, rows = run(command)
        took = f"{(time.monotonic() - started) / 60:.1f} minutes"
        summary += [*rows, f"{ROW}{name} | {'passed' if well else 'FAILED'} in {took} |"]
        all_well &= well
    commit = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    shown = subprocess.run(commit, capture_output=True, text=True).stdout.strip() or "unknown"
    print(f"\nFigures of commit {shown}, for docs/reliability.md:\n")
    print("\n".join(["| what | outcome |", "|---|---|", *summary]))
    return not all_well


if __name__ == "__main__":
    sys.exit(main())
