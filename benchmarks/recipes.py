"""Whether the command on a model's card makes its weights again, bit for bit: python benchmarks/recipes.py [NAME …]

Trains each model of the package, or those named, as its card says, which takes as long as the card says. One that was stopped
goes on from its last whole epoch, and one that is finished is only compared.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import torch

from fine.pretrained import folder_of, names
from fine.runs import Run, provenance, read_tensors
from fine.storage import read_json
from timing import show, verdict


def train_again(name: str, run: Run) -> None:
    """The command on the card, with as many threads as it names."""
    card = (folder_of(name) / "README.md").read_text(encoding="utf-8")
    command, threads = (re.search(pattern, card, re.MULTILINE)[1] for pattern in (r"^    fine (train .+)$", r", (\d+) threads"))
    words = ["train", "--resume", str(run.folder)] if run.exists else [*shlex.split(command), "--out", str(run.folder)]
    subprocess.run([sys.executable, "-m", "fine", *words, "--threads", threads], check=True)


def largest_difference(name: str, run: Run) -> float:
    """Between the weights in the package and those made again; 0 if every bit is the same, infinity if they are not alike."""
    kept, made = (read_tensors(folder / "model.safetensors")[0] for folder in (folder_of(name), run.folder))
    if any(key not in made or kept[key].shape != made[key].shape for key in kept) or len(made) > len(kept):
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
        difference, minutes = largest_difference(name, run), read_json(run.folder / "result.json")["minutes"]
        met &= difference == 0
        rows.append((name, f"{minutes:.1f}", f"{difference:g}", verdict(difference == 0)))
    columns = ("model", "minutes of training", "largest difference of a weight", "the same bits")
    show(f"Models made again from their cards, on {provenance()['machine']}, torch {torch.__version__}", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
