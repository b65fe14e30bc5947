"""Runs are folders: one trained model and its record, in files a person can read and git can keep.

    config.json          what the run is: model, task, training; the threads it was started with
    state.safetensors    while training: the checkpoint after the last whole epoch, to resume from
    metrics.csv          one row per epoch
    model.safetensors    the trained weights
    result.json          accuracy on the test puzzles, minutes, versions
    puzzles.png          test puzzles the model solved and missed

Nothing in a run is ever unpickled.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from fine.errors import FineError
from fine.io.files import read_json, write_json
from fine.io.tensors import read_tensors
from fine.io.typed_json import read_as
from fine.models import make_model, model_config, refuse_giant
from fine.models.weights import load_trained, load_weights
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN, Variant
from fine.training.protocols import Training
from fine.training.upgrades import upgrade_run

FORMAT = 4
"""Version of the run folder's layout."""
PLACES = ("task.data_root", "encoder_from", "start_from")
"""Fields that say where something is: they may change while a run is stopped."""
MOST_PUZZLES = 10_000_000
"""Puzzles of a task: a quarter of a gigabyte as integers."""


@dataclass(frozen=True)
class RunConfig:
    """Everything a run depends on.

    Examples:
        >>> import fine
        >>> task = fine.Task.preset("glyphs", rules="rotation")
        >>> config = fine.RunConfig(model="fine", task=task, settings={"slots": 16})
        >>> config.check()
        >>> config.build().config.slots
        16
    """

    model: str = "fine"
    """Name of the model."""
    task: Task = field(default_factory=Task)
    """What it is trained and tested on."""
    training: Training = field(default_factory=Training)
    """How it is trained."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the model. Those not named are its defaults; a run that has started names all."""
    encoder_from: str = ""
    """A finished run with the trained encoder that this one starts from; empty: none."""
    channels: int = 1
    """Channels of the images the model was built for; found from the task when a run starts."""
    variant: Variant = PLAIN
    """What is asked about the puzzles, in training and in the test."""

    def check(self) -> None:
        """Refuse what cannot be trained or tested."""
        self.training.check()
        counts = (("train_count", 2), ("test_count", 1), ("train_classes", 0), ("test_classes", 0))
        for name, least in counts:
            if getattr(self.task, name) < least:
                raise FineError(f"{name} is {getattr(self.task, name)}: give at least {least}")
        for name in ("train_count", "test_count"):
            if getattr(self.task, name) > MOST_PUZZLES:
                raise FineError(
                    f"{name} is {getattr(self.task, name):,}: give at most {MOST_PUZZLES:,}"
                )
        if self.channels not in (1, 3):
            raise FineError(f"channels is {self.channels}: a model sees 1 (grey) or 3 (colour)")
        if self.task.shows_strings:
            self._check_strings()
        elif self.settings.get("encoder") == "strings":
            raise FineError(
                "encoder=strings reads grids of letters, not images: choose another encoder, or a "
                "task of strings"
            )
        names, _, split = self.task.rules.partition(":")
        rotated = {"rotation", "affine", "all"} & set(names.split("+"))
        if self.training.augment_puzzles == 8 and split and rotated:
            raise FineError(
                "augment_puzzles=8 would show rotations that the test holds back, for a mirror "
                "turns 15° into 345°: give 4 or 1"
            )

    def _check_strings(self) -> None:
        """Refuse augmentations after which a grid of letters is no string."""
        for name in ("augment_images", "augment_puzzles", "conjugate"):
            if getattr(self.training, name) != getattr(Training, name):
                raise FineError(
                    f"{name} is for images: a string that is rotated, mirrored or warped is no "
                    "string; leave it out"
                )

    def complete(self) -> "RunConfig":
        """The same with every setting of the model named: a run outlives a change of defaults."""
        settings = asdict(model_config(self.model, self.settings))
        return replace(self, settings=settings, channels=self.task.image_channels)

    def build(self) -> nn.Module:
        """The untrained model of this run."""
        channels, size, settings = self.channels, self.task.size, self.settings
        refuse_giant(self.model, channels=channels, size=size, settings=settings)
        return make_model(self.model, channels=channels, size=size, settings=settings)

    def start(self) -> nn.Module:
        """The model as its training starts: untrained, except for an encoder of another run."""
        model = self.build()
        if self.encoder_from:
            path = Run(Path(self.encoder_from)).weights
            own, theirs = model.state_dict(), read_tensors(path)[0]
            weights = {name: own[name] for name in own if not name.startswith("encoder.")}
            weights |= {name: theirs[name] for name in theirs if name.startswith("encoder.")}
            load_weights(model, weights, path)
        return model


class RunKind(NamedTuple):
    """A kind of run: the class of its configuration, and what trains it."""

    config: type[RunConfig]
    trainer: Callable[["Run", Any, torch.device], Any]
    """(run, configuration, device) -> an object that has what `Trainer` has for fine.training.api:
    ``group``, ``reuse(trained)`` and ``complete(progress) -> Evaluation``."""


RUN_KINDS: dict[str, RunKind] = {}
"""Kinds of runs by their name in config.json; `plain` is the usual one, which it leaves out."""


def register_run_kind(name: str, config: type[RunConfig], trainer: Callable[..., Any]) -> None:
    """Make a kind of run known: `train` and `resume` then use ``trainer`` for these configurations.

    Every kind has its own class of configurations.
    """
    if name in RUN_KINDS:
        raise FineError(f"there is a kind of run called '{name}' already: choose another name")
    for other, kind in RUN_KINDS.items():
        if kind.config is config:
            raise FineError(f"{config.__name__} is for runs of kind '{other}': give a subclass")
    RUN_KINDS[name] = RunKind(config, trainer)


def kind_of(config: RunConfig) -> str:
    """The kind of run that a configuration is for."""
    for name, kind in RUN_KINDS.items():
        if type(config) is kind.config:
            return name
    raise FineError(f"{type(config).__name__} is for no known kind of run: see `register_run_kind`")


def as_dict(config: RunConfig) -> dict[str, Any]:
    """A configuration as config.json has it, without the format."""
    kind = kind_of(config)
    return ({} if kind == "plain" else {"kind": kind}) | asdict(config)


def from_dict(content: dict[str, Any]) -> RunConfig:
    """The configuration that `as_dict` wrote; a ValueError names what does not fit."""
    content = dict(content)
    kind = content.pop("kind", "plain")
    if not isinstance(kind, str) or kind not in RUN_KINDS:
        raise ValueError(f"its kind is {str(kind)[:40]!r}, which is not known here")
    if missing := {"model", "task", "training"} - content.keys():
        raise ValueError(f"it lacks {min(missing)!r}")
    return read_as(RUN_KINDS[kind].config, content)


def with_format(config: RunConfig) -> dict[str, Any]:
    """A configuration with the number of its format, so that later versions can read it."""
    return {"format": FORMAT, **as_dict(config)}


def from_format(content: dict[str, Any]) -> RunConfig:
    """The configuration in what this version or an earlier one wrote.

    A ValueError names what does not fit.
    """
    content = dict(content)
    version = content.pop("format", None)
    if version not in range(1, FORMAT + 1):
        raise ValueError(f"its format is {str(version)[:40]!r}")
    content.pop("threads", None)  # of the run, and not of what it computes
    return from_dict(upgrade_run(content) if version < 3 else content)


def difference(before: RunConfig, now: RunConfig) -> str:
    """The first field in which two configurations differ, with both values; empty: they agree.

    Fields of `PLACES` do not count.
    """
    old, new = _fields(as_dict(before)), _fields(as_dict(now))
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in PLACES and old.get(name) != new.get(name):
            return f"{name} was {old.get(name)!r} and is {new.get(name)!r}"
    return ""


def _fields(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The fields of a configuration by name, such as `training.seed`, as JSON gives them back."""
    found: dict[str, Any] = {}
    for name, value in json.loads(json.dumps(content)).items():
        nested = _fields(value, f"{prefix}{name}.") if isinstance(value, dict) else {}
        found |= nested or {f"{prefix}{name}": value}
    return found


@dataclass(frozen=True)
class Run:
    """A run folder.

    Examples:
        >>> import fine
        >>> from pathlib import Path
        >>> run = fine.Run(Path("runs/mine"))
        >>> run.exists
        False
        >>> model = run.load()  # doctest: +SKIP
    """

    folder: Path
    """Where it is."""

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run, finished or not."""
        return (self.folder / "config.json").exists()

    @property
    def finished(self) -> bool:
        """Whether the folder holds a run that is trained and tested."""
        return self.weights.exists() and not self.checkpoint.exists()

    @property
    def checkpoint(self) -> Path:
        """The checkpoint to resume from, while the run is trained."""
        return self.folder / "state.safetensors"

    @property
    def weights(self) -> Path:
        """The trained weights."""
        return self.folder / "model.safetensors"

    def save_config(self, config: RunConfig) -> None:
        """Write config.json, with the number of threads that the run is started with."""
        content = {**with_format(config), "threads": torch.get_num_threads()}
        write_json(self.folder / "config.json", content)

    def config(self) -> RunConfig:
        """Read config.json, or say in one line why it cannot be used."""
        path = self.folder / "config.json"
        if not path.exists():
            raise FineError(
                f"{self.folder} is not a run folder: it has no config.json; `fine train` makes one"
            )
        content = read_json(path)
        version = content.get("format")
        if version not in range(1, FORMAT + 1):
            newer = isinstance(version, int) and version > FORMAT
            remedy = "install the version of fine that wrote it, or train" if newer else "train"
            raise FineError(
                f"{path} has format {version}, this version of fine reads format {FORMAT}: "
                f"{remedy} the run again"
            )
        try:
            config = from_format(content)
        except ValueError as problem:
            raise FineError(
                f"{path} is not a valid run configuration ({problem}): train the run again"
            ) from problem
        try:
            config.check()
        except FineError as problem:
            raise FineError(f"{path}: {problem}") from problem
        return config

    def threads(self) -> int:
        """The number of threads that the run was started with; 0: its config.json does not say."""
        path = self.folder / "config.json"
        threads = read_json(path).get("threads", 0)
        if type(threads) is not int or threads < 0:
            raise FineError(f"{path}: threads is {str(threads)[:40]!r}, expected a whole number")
        return threads

    def load(self, *, device: torch.device | str = "cpu") -> nn.Module:
        """The trained model, ready to answer."""
        config = self.config()
        shape = {"channels": config.channels, "size": config.task.size}
        model = load_trained(config.model, self.weights, settings=config.settings, **shape)
        return model.to(device)
