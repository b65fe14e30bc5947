"""A finished run as a folder to give away: weights, configuration and card, the same folder the hub has."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.pretrained import load
from fine.pretrained.cards import card
from fine.runs import Run
from fine.storage import read_json, write_json, write_text
from fine.tasks import Task


def export(run_folder: Path, folder: Path) -> None:
    """Write the trained FINE of a run to ``folder``, with a card that says how it was trained and how good it is."""
    run = Run(run_folder)
    config = run.config()
    if not run.finished:
        raise FineError(f"{run_folder} is not finished: continue it with `fine train --resume {run_folder}`, then export it")
    if (folder / "config.json").exists() and "task" in read_json(folder / "config.json"):
        raise FineError(f"{folder} holds a run, which exporting would overwrite: choose another folder")
    model = load(run_folder)
    try:
        text = card(folder.resolve().name, config, read_json(run_folder / "result.json"))
    except (KeyError, TypeError, ValueError) as problem:
        raise FineError(f"{run_folder / 'result.json'} lacks what a card needs ({problem}): train the run again") from problem
    write_text(folder / "README.md", text)
    model.save_pretrained(folder)
    content = read_json(folder / "config.json")
    write_json(folder / "config.json", {**content, "trained_on": what_it_shows(config.task)})


def what_it_shows(task: Task) -> dict[str, Any]:
    """A task for others to read, who may want to teach the model one more rule; where its files lay is not their business."""
    shared = replace(task, images=task.images.partition(":")[0], data_root="")
    return {name: value for name, value in asdict(shared).items() if value}
