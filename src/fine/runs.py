"""Runs are folders: one trained model and its record, in files a person can read and git can keep.

    config.json          what was asked for: model, task, training
    state.safetensors    while training: weights, optimiser and progress after the last whole epoch, to resume from
    metrics.csv          a row an epoch
    model.safetensors    the trained weights
    result.json          accuracy on the test puzzles, minutes, versions
    puzzles.png          test puzzles the model solved and missed

Nothing in a run is ever unpickled.
"""

import platform
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models import make_model, model_config
from fine.protocols import Training
from fine.questions import FORWARDS, Question
from fine.storage import read_json, write_json, written_whole
from fine.tasks import Task
from fine.typed_json import read_as

FORMAT = 2
"""Version of the run folder's layout."""
MOST_PUZZLES = 10_000_000
"""Puzzles of a task: a quarter of a gigabyte as integers."""
LARGEST_MODEL = 500_000_000
"""Numbers in a model: two gigabytes."""


@dataclass(frozen=True)
class RunConfig:
    """Everything a run depends on."""

    model: str = "fine"
    task: Task = field(default_factory=Task)
    training: Training = field(default_factory=Training)
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the model; those not named are its own defaults, and a run that has started names them all."""
    encoder_from: str = ""
    """A finished run whose trained encoder this one starts from; empty: start from nothing."""
    channels: int = 1
    """Channels of the pictures the model was built for; found from the task when a run starts."""
    grown_from: str = ""
    """A trained model that this run goes on from, to learn further rules: a run folder, or a name; empty: none."""
    question: Question = FORWARDS
    """What is asked about the puzzles, in training and in the test."""

    def check(self) -> None:
        """Refuse what cannot be trained or tested."""
        self.training.check()
        for name, least in (("train_count", 2), ("test_count", 1), ("train_classes", 0), ("test_classes", 0)):
            if getattr(self.task, name) < least:
                raise FineError(f"{name} is {getattr(self.task, name)}: give at least {least}")
        for name in ("train_count", "test_count"):
            if getattr(self.task, name) > MOST_PUZZLES:
                raise FineError(f"{name} is {getattr(self.task, name):,}: give at most {MOST_PUZZLES:,}")
        if self.grown_from and not self.training.arrival:
            raise FineError(
                f"a run that goes on from {self.grown_from} must say how new rules arrive: set arrival, to anchor say"
            )
        if self.question != FORWARDS and self.training.arrival:
            raise FineError(
                f"rules that arrive one after another are asked about plainly, not '{self.question}': leave out --ask"
            )
        if self.channels not in (1, 3):
            raise FineError(f"channels is {self.channels}: a model sees 1 (grey) or 3 (colour)")
        if self.training.views > 1 and self.task.shows_strings:
            raise FineError(f"a string cannot be seen from {self.training.views} sides: a turned grid is no string; give 1")
        if self.training.turned and self.task.shows_strings:
            raise FineError("a string cannot be turned, for then it is no string: leave out --turned")
        if self.training.through and self.task.shows_strings:
            raise FineError(f"a string cannot be seen through a rule: set through to 0, not {self.training.through}")
        names, _, split = self.task.rules.partition(":")
        if self.training.views == 8 and split and {"rotation", "affine", "all"} & set(names.split("+")):
            raise FineError(
                "8 views would show rotations that the test holds back, for a mirror turns 15° into 345°: give 4 or 1"
            )

    def build(self) -> nn.Module:
        """The untrained model of this run."""
        self._refuse_a_giant()
        return make_model(self.model, channels=self.channels, size=self.task.size, settings=self.settings)

    def _refuse_a_giant(self) -> None:
        """Refuse a model that would fill the memory, before any of it is made: a configuration may come from anyone."""
        config = model_config(self.model, self.settings)
        sizes = sorted((value for value in asdict(config).values() if type(value) is int), reverse=True)
        largest, second = (*sizes, 1, 1)[:2]
        if largest * largest * second <= 2**26:  # as many as the largest of our own models might have if it were one matrix
            return
        try:
            with torch.device("meta"):  # shapes without numbers; torch takes seconds to get ready, so only when in doubt
                model = make_model(self.model, channels=self.channels, size=self.task.size, settings=self.settings)
        except (RuntimeError, OverflowError, TypeError) as problem:
            if "meta" in str(problem):  # a model of the user's own that looks at its numbers while it is made
                return
            raise FineError(f"a {self.model} of this size is too large to be counted: give it smaller settings") from problem
        numbers = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
        if numbers > LARGEST_MODEL:
            raise FineError(
                f"a {self.model} of this size has {numbers:,} numbers, more than {LARGEST_MODEL:,}: give it smaller settings"
            )

    def start(self) -> nn.Module:
        """The model as its training starts: untrained, but for an encoder taken from another run, or a model to go on from."""
        model = self.build()
        if self.grown_from:
            from fine.continual.lessons import to_go_on_from  # late, because lessons are runs

            grown = to_go_on_from(self.grown_from, self.task, model)
            load_weights(model, grown.state_dict(), Path(self.grown_from))
        if self.encoder_from:
            path = Run(Path(self.encoder_from)).weights
            mine = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith("encoder.")}
            theirs = {name: tensor for name, tensor in read_tensors(path)[0].items() if name.startswith("encoder.")}
            load_weights(model, mine | theirs, path)
        return model


@dataclass(frozen=True)
class Run:
    """A run folder."""

    folder: Path

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run, finished or not."""
        return (self.folder / "config.json").exists()

    @property
    def finished(self) -> bool:
        """Whether the folder holds a run with nothing left to do."""
        return self.weights.exists() and not self.state.exists()

    @property
    def state(self) -> Path:
        return self.folder / "state.safetensors"

    @property
    def weights(self) -> Path:
        return self.folder / "model.safetensors"

    def save_config(self, config: RunConfig) -> None:
        """Write config.json."""
        write_json(self.folder / "config.json", {"format": FORMAT, **asdict(config)})

    def config(self) -> RunConfig:
        """Read config.json, or say in one line why it cannot be used."""
        path = self.folder / "config.json"
        if not path.exists():
            raise FineError(f"{self.folder} is not a run folder: it has no config.json; `fine train` makes one")
        content = read_json(path)
        version = content.pop("format", None)
        if version == 1:
            _upgrade_from_1(content)
        elif version != FORMAT:
            newer = isinstance(version, int) and version > FORMAT
            remedy = "install the version of fine that wrote it, or train" if newer else "train"
            raise FineError(f"{path} has format {version}, this version of fine reads format {FORMAT}: {remedy} the run again")
        try:
            if missing := {"model", "task", "training"} - content.keys():
                raise ValueError(f"it lacks {min(missing)!r}")
            config = read_as(RunConfig, content)
        except ValueError as problem:
            raise FineError(f"{path} is not a valid run configuration ({problem}): train the run again") from problem
        try:
            config.check()
        except FineError as problem:
            raise FineError(f"{path}: {problem}") from problem
        return config

    def load(self, *, device: torch.device | str = "cpu") -> nn.Module:
        """The trained model, ready to answer."""
        model = self.config().build()
        load_weights(model, read_tensors(self.weights)[0], self.weights)
        return model.to(device).eval()


def _upgrade_from_1(content: dict[str, Any]) -> None:
    """In format 1 two settings of FINE were true or false, which now have more than two values."""
    settings = content.get("settings")
    if isinstance(settings, dict):
        if isinstance(settings.get("standardise"), bool):
            settings["standardise"] = "picture" if settings["standardise"] else "none"
        if isinstance(settings.get("tied"), bool):
            settings["keys"] = "tied" if settings.pop("tied") else "own"


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors with a few texts beside them, whole or not at all."""
    content = safetensors.torch.save({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, metadata)
    with written_whole(path) as temporary:
        temporary.write_bytes(content)  # not by save_file, whose files nobody else may read


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors in a file and the texts beside them."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError:
        raise FineError(
            f"{path} is missing: the run has not finished; continue it with `fine train --resume {path.parent}`"
        ) from None
    except (safetensors.SafetensorError, OSError) as problem:
        raise FineError(f"{path} is damaged ({problem}): expected a safetensors file; train the run again") from problem


def load_weights(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    """Put tensors into a model after checking every name and shape."""
    own = model.state_dict()
    for name in sorted(own.keys() ^ tensors.keys()):
        has, lacks = (path, "the model in config.json") if name in tensors else ("the model in config.json", path)
        raise FineError(f"{has} has '{name}', which {lacks} lacks: file and configuration do not match")
    for name, tensor in own.items():
        if tensor.shape != tensors[name].shape:
            given, expected = list(tensors[name].shape), list(tensor.shape)
            raise FineError(f"{path}: '{name}' has shape {given}, the model in config.json needs {expected}")
        if tensor.is_floating_point() != tensors[name].is_floating_point() or tensors[name].is_complex():
            raise FineError(f"{path}: '{name}' holds {tensors[name].dtype}, the model in config.json needs {tensor.dtype}")
    model.load_state_dict(tensors)


def provenance() -> dict[str, str]:
    """What made a result: versions, machine, and the commit if the source is a git checkout."""
    from fine import __version__

    try:
        answer = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
        commit = answer.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    return {
        "fine": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "commit": commit,
    }
