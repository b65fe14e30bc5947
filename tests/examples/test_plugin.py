"""examples/plugin, installed by pip into a folder of its own: `fine train`, `fine benchmark`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.commands import PROGRAM, puzzle_count

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """The variables under which the package is installed."""
    copy = tmp_path_factory.mktemp("source") / "plugin"  # a build writes into its folder
    shutil.copytree(ROOT / "examples/plugin", copy)
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    made = subprocess.run([*pip, str(copy)], capture_output=True, text=True)
    if made.returncode and "setuptools" in made.stderr:
        pytest.skip("setuptools, which builds the example, is not installed")
    assert made.returncode == 0, made.stderr
    paths = [str(target), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "200"}


@pytest.mark.slow
def test_the_example_is_listed_trained_and_benchmarked(environment, tmp_path):
    def fine(*arguments: str) -> str:
        ran = subprocess.run(
            [*PROGRAM, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    listed = fine("plugins", "--check")
    assert listed.count("fine-example-plugin 1.0") == 4 and listed.count(" yes ") == 4
    sizes = ("--train-count", "64", "--test-count", "40", "--epochs", "2", "--batch", "16")
    names = ("--model", "parallelogram", "--task", "stars", "--rules", "swirl")
    assert puzzle_count(fine("train", *names, *sizes, "--out", "run")) == 40
    assert puzzle_count(fine("evaluate", "run")) == 40  # in a new process, by its name alone

    for name in ("x", "y", "new", "a", "b"):
        noise = np.random.default_rng(len(name)).integers(0, 255, (32, 32), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / f"{name}.png")
    (tmp_path / "puzzles.txt").write_text("x.png y.png new.png a.png *b.png\n")
    answered = fine("benchmark", "listed", "--data", "puzzles.txt", "--model", "run")
    assert "listed, run, the network alone" in answered
