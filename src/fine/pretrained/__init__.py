"""Trained models that come with the package, a folder each, and one way to load any trained FINE.

    model = load("all-glyphs")                     # by name; or a run folder, or an exported one
    model.size, model.channels                     # the pictures it was trained on
    trained_on("all-glyphs")                       # a Task: glyphs, all rules

A folder holds model.safetensors, config.json and README.md, its card, and where it has been calibrated, calibration.json.
`fine export RUN FOLDER` makes one of a run.
"""

from pathlib import Path

import torch

from fine.errors import FineError, unknown
from fine.functions.calibration import FILE, Calibration
from fine.models.fine import FINE
from fine.runs import Run
from fine.storage import read_json
from fine.tasks import Task
from fine.typed_json import read_as

_HERE = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The models in the package."""
    return tuple(sorted(file.parent.name for file in _HERE.glob("*/model.safetensors")))


def picture_models() -> tuple[str, ...]:
    """Those of them that see pictures; the others read strings."""
    return tuple(name for name in names() if read_json(_HERE / name / "config.json")["config"]["encoder"] != "strings")


def folder_of(name: str) -> Path:
    """Where a model of the package is; RunConfig takes it for `encoder_from`."""
    if name not in names():
        raise unknown("pretrained model", name, names())
    return _HERE / name


def trained_on(name: str | Path) -> Task | None:
    """What the model called ``name``, or the one in a folder, was trained on; None if its folder does not say."""
    folder = folder_of(str(name)) if str(name) in names() else Path(name)
    path = folder / "config.json"
    content = read_json(path)
    if "task" in content:
        return Run(folder).config().task
    if "trained_on" not in content:
        return None
    try:
        return read_as(Task, content["trained_on"], "trained_on")
    except ValueError as problem:
        raise FineError(f"{path} does not say what the model was trained on ({problem}): export it again") from problem


def load_calibration(name: str | Path) -> Calibration | None:
    """How far the word of a model can be taken; None if `fine calibrate` has not found that out."""
    path = (folder_of(str(name)) if str(name) in names() else Path(name)) / FILE
    return Calibration.read(path) if path.exists() else None


def load(name: str | Path, *, device: torch.device | str = "cpu") -> FINE:
    """The FINE called ``name``, or the one in a run folder or an exported folder, ready to answer."""
    folder = folder_of(str(name)) if str(name) in names() else Path(name)
    if not folder.is_dir():
        raise unknown("model", str(name), (*names(), "a run folder", "an exported folder"))
    if "task" not in read_json(folder / "config.json"):  # only a run knows what it was trained on
        return FINE.from_pretrained(folder).to(device)
    model = Run(folder).load(device=device)
    if not isinstance(model, FINE):
        raise FineError(f"{folder} holds a {type(model).__name__}: expected a run of fine, fine-nice or fine-mlp")
    return model
