"""Loads trained models: bundled ones by name, runs and exported models by folder.

model = load()                      # the one for anyone's images
model = load("all-glyphs")
model = load("runs/rotation")
"""

import contextlib
from pathlib import Path

import torch

from fine.errors import FineError, unknown
from fine.evaluation.calibration import FILE, Calibration, remember_calibration
from fine.io.files import read_json
from fine.io.tensors import file_digest
from fine.io.typed_json import read_as
from fine.models.hub import load_model
from fine.models.paper import FINE
from fine.puzzles.task import Task
from fine.training.run import Run

_BUNDLED = Path(__file__).parent
DEFAULT = "universal"
"""The bundled model that is taken if none is named: the one for anyone's images."""


def names() -> tuple[str, ...]:
    """The bundled models."""
    return tuple(sorted(file.parent.name for file in _BUNDLED.glob("*/model.safetensors")))


def image_models() -> tuple[str, ...]:
    """The bundled models that see images; the others read strings."""
    encoders = {
        name: read_json(_BUNDLED / name / "config.json")["config"]["encoder"] for name in names()
    }
    return tuple(name for name, encoder in encoders.items() if encoder != "strings")


def folder_of(name: str) -> Path:
    """The folder of a bundled model; RunConfig takes it for `encoder_from`."""
    if name not in names():
        raise unknown("pretrained model", name, names())
    return _BUNDLED / name


def load(name: str | Path = DEFAULT, *, device: torch.device | str = "cpu") -> FINE:
    """The bundled model of this name, or that of a run or of an exported folder, ready to answer.

    It is any model that composes functions: `fine`, `fine-grouped`, `fine-nice` or `fine-mlp`.

    Args:
        name: Name of a bundled model, or path of a run folder or an exported folder.
        device: Where to put the model, such as ``cpu`` or ``cuda``.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> model.channels, model.size
        (1, 32)
        >>> mine = fine.load("runs/mine")  # doctest: +SKIP
    """
    folder = _find(name)
    if not folder.is_dir():
        raise unknown("model", str(name), (*names(), "a run folder", "an exported folder"))
    model = Run(folder).load() if holds_run(folder) else load_model(folder)
    if not isinstance(model, FINE):
        raise FineError(
            f"{folder} holds a {type(model).__name__}: expected a run of fine, fine-nice or "
            "fine-mlp"
        )
    with contextlib.suppress(FineError):  # `fine calibrate` makes a broken one anew
        calibration = load_calibration(folder)
        if calibration is not None:
            remember_calibration(model, calibration)
    return model.to(device)


def trained_on(name: str | Path) -> Task | None:
    """The task that a model was trained on, a bundled one or one in a folder.

    None if its folder does not say.
    """
    folder = _find(name)
    if holds_run(folder):
        return Run(folder).config().task
    path = folder / "config.json"
    content = read_json(path)
    if "trained_on" not in content:
        return None
    try:
        return read_as(Task, content["trained_on"], "trained_on")
    except ValueError as problem:
        raise FineError(
            f"{path} does not say what the model was trained on ({problem}): export it again"
        ) from problem


def load_calibration(name: str | Path) -> Calibration | None:
    """The calibration of a model; None if `fine calibrate` has not made one."""
    path = _find(name) / FILE
    return Calibration.read(path) if path.exists() else None


def weights_digest(name: str | Path) -> str:
    """SHA-256 of the weights of a model, in hexadecimal digits."""
    return file_digest(Run(_find(name)).weights)


def holds_run(folder: Path) -> bool:
    """Whether a folder is that of a run, and not one that was exported."""
    return "task" in read_json(folder / "config.json")


def _find(name: str | Path) -> Path:
    """The folder of a bundled model, or the folder that was given, which may be missing."""
    if str(name) in names():
        return folder_of(str(name))
    try:
        folder = Path(name)
        folder.is_dir()  # refuses a name too long for a file, and what is not ours to see
    except TypeError:
        raise FineError(
            f"a model is no {type(name).__name__}: give its name, or its folder"
        ) from None
    except OSError as problem:
        raise FineError(
            f"the model '{name}' cannot be looked for ({problem.strerror}): give its name, or its "
            "folder"
        ) from problem
    return folder
