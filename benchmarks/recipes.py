"""Whether a model's card makes its weights again: python benchmarks/recipes.py [NAME …]

Trains each bundled model, or those named, as its card says, which takes as long as the card says,
and compares weights bit by bit. A run that was stopped resumes from its last whole epoch, and one
that is finished is only compared.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import torch

from fine.io.files import read_json
from fine.io.provenance import provenance
from fine.io.tensors import read_tensors
from fine.pretrained import folder_of, names
from fine.training import Run
from timing import show, verdict


def train_again(name: str, run: Run) -> None:
    """The command on the card, with as many threads as it names."""
    card = (folder_of(name) / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^    fine (train .+)$", card, re.MULTILINE)[1]
    threads = re.search(r", (\d+) threads?", card)[1]
    words = [*shlex.split(command), "--out", str(run.folder)]
    if run.exists:
        words = ["train", "--resume", str(run.folder)]
    subprocess.run([sys.executable, "-m", "fine", *words, "--threads", threads], check=True)


def largest_difference(name: str, run: Run) -> float:
    """Between the bundled weights and those made again; infinity if their shapes differ."""
    folders = (folder_of(name), run.folder)
    kept, made = (read_tensors(folder / "model.safetensors")[0] for folder in folders)
    same_shapes = all(key in made and kept[key].shape == made[key].shape for key in kept)
    if not same_shapes or len(made) > len(kept):
        return float("inf")
    if all(torch.equal(kept[key], made[key]) for key in kept):
        return 0.0
    return max(float((kept[key].double() - made[key].double()).abs().max()) for key in kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(names()))
    parser.add_argument("--work", type=Path, default=Path("runs/recipes"))
    wanted = parser.parse_args()
    rows, met = [], True
    for name in wanted.models:
        run = Run(wanted.work / name)
        if not run.finished:
            train_again(name, run)
        difference = largest_difference(name, run)
        minutes = read_json(run.folder / "result.json")["minutes"]
        met &= difference == 0
        rows.append((name, f"{minutes:.1f}", f"{difference:g}", verdict(difference == 0)))
    columns = ("model", "minutes of training", "largest difference of a weight", "the same bits")
    machine = f"{provenance()['machine']}, torch {torch.__version__}"
    show(f"Models made again from their cards, on {machine}", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
