"""Options that several commands have, declared once, with the help texts of what they configure.

Single options are types (`task: TaskName = "glyphs"`), the others come in groups (`training:
TrainingOptions = TrainingOptions()`), which --help shows under a heading of their own.
"""

import os
from dataclasses import replace
from typing import Annotated

import torch
import tyro
from tyro.constructors import PrimitiveConstructorSpec

from fine.cli.arguments import field_docstrings, given, options
from fine.continual import ContinualConfig
from fine.errors import FineError, unknown
from fine.images.augmentation import PARTS, TURNS
from fine.models.registry import MODELS
from fine.pretrained import names
from fine.puzzles.task import PRESETS, Task
from fine.puzzles.variant_kinds import VARIANTS
from fine.puzzles.variants import PLAIN, Variant, make_variant
from fine.rules import FAMILIES
from fine.rules.strings import STRING_FAMILIES
from fine.training.protocols import PROTOCOLS, Training
from fine.training.run import RunConfig


def _protocol(name: str) -> str:
    it = PROTOCOLS[name]
    new = ", new puzzles in each" if it.resample_each_epoch else ""
    augmented = ", augmented images" if it.augment_images else ""
    shown = f"{it.epochs} epochs{new}{augmented}"
    return f"{name} ({shown}, batch {it.batch}, {it.schedule} learning rate)"


def _family(name: str) -> str:
    return f"{name} (for pretraining only)" if FAMILIES[name].pretraining_only else name


def _hints() -> str:
    return ", ".join(f"{kind.default} for {name}" for name, kind in VARIANTS.items())


TaskName = Annotated[
    str,
    tyro.conf.arg(
        metavar="TASK",
        help=f"Images, and how many puzzles over them: {', '.join(PRESETS)}, or folder:PATH with a "
        "subfolder for each class.",
    ),
]
_RULES = (
    f"{field_docstrings(Task)['rules']} Families: {', '.join(map(_family, FAMILIES))}; of "
    f"strings: {', '.join(STRING_FAMILIES)}."
)
Rules = Annotated[str, tyro.conf.arg(metavar="RULES", help=_RULES)]
RulesOfTask = Annotated[
    str,
    tyro.conf.arg(
        metavar="RULES",
        help=f"{_RULES} (default: the task's: affine, universal for universal, all for strings)",
    ),
]
ModelName = Annotated[
    str,
    tyro.conf.arg(
        metavar="MODEL",
        help=f"One of {', '.join(MODELS)}. fine-nice and fine-mlp are the paper's; blind and "
        "object-only are controls.",
    ),
]
TrainedModel = Annotated[
    str,
    tyro.conf.arg(
        metavar="MODEL",
        help=f"A bundled pretrained model ({', '.join(names())}), a run folder, or an exported "
        "folder.",
    ),
]
Protocol = Annotated[
    str,
    tyro.conf.arg(
        metavar="NAME", help=f"How models are trained: {'; '.join(map(_protocol, PROTOCOLS))}."
    ),
]
ImageParts = Annotated[
    str | None,
    PrimitiveConstructorSpec(
        nargs="*",  # by itself it means turns, as it did when there was no other part
        metavar="PART …",
        instance_from_str=lambda words: "+".join(words) or TURNS,
        is_instance=lambda value: isinstance(value, str | None),
        str_from_instance=lambda value: [value or ""],
    ),
    tyro.conf.arg(
        metavar="PART …",
        help="Augment every image of a puzzle at random before any rule: "
        f"all, or parts such as edges+mask+frame, of {', '.join(PARTS)}; without any: {TURNS}.",
    ),
]
DataRoot = Annotated[str, tyro.conf.arg(metavar="FOLDER", help=field_docstrings(Task)["data_root"])]
Device = Annotated[str, tyro.conf.arg(help="cpu, cuda or mps.")]


def find_protocol(name: str) -> Training:
    """The training of this name."""
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


def use_device(device: str, threads: int) -> None:
    """Check that the device is there, and set the number of threads."""
    try:
        torch.zeros(1, device=device).item()  # reading it back also refuses `meta`, without numbers
    except (RuntimeError, AssertionError) as problem:
        raise FineError(
            f"device '{device}' cannot be used here: choose cpu, or cuda or mps on a machine that "
            "has it"
        ) from problem
    cores = os.cpu_count() or 1
    if not 0 <= threads <= cores:  # more than cores would wait for each other
        raise FineError(
            f"threads is {threads}: give 0 to let torch choose, or up to {cores}, the cores of "
            "this machine"
        )
    if threads:
        torch.set_num_threads(threads)


@options(Task)
class CountOptions:
    """Defaults are those of the task."""

    train_count: int | None = None
    test_count: int | None = None
    data_root: Annotated[str | None, tyro.conf.arg(metavar="FOLDER")] = None


@options(Task)
class TaskOptions(CountOptions):
    """Defaults are those of the task."""

    distractors: str | None = None
    test_distractors: str | None = None
    size: int | None = None
    validation: bool = False


@options(RunConfig)
class ModelOptions:
    """Defaults are those of the model."""

    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE …")] = ()
    """Settings of the model, such as slots=32 ridge=1."""
    encoder_from: Annotated[str, tyro.conf.arg(metavar="RUN")] = ""

    def settings(self) -> dict[str, str]:
        """("slots=32", …) as a mapping."""
        for text in self.set:
            if "=" not in text:
                raise FineError(f"'{text}' is not a setting: write NAME=VALUE, such as slots=32")
        return dict(text.split("=", 1) for text in self.set)


@options(Training)
class TrainingOptions:
    """Defaults are those of the protocol."""

    protocol: Protocol = "quick"
    batch: int | None = None
    learning_rate: float | None = None
    schedule: str | None = None
    grad_clip: float | None = None
    resample_each_epoch: bool = False
    augment_images: ImageParts = None
    unaugmented: float | None = None
    augment_puzzles: int | None = None
    conjugate: float | None = None
    test_epochs: tuple[int, ...] | None = None

    def make(self, *, epochs: int | None, strings: bool = False) -> Training:
        """The protocol with these changes; `quick` has another meaning for strings."""
        protocol = find_protocol(self.protocol)
        if strings and self.protocol == "quick":
            protocol = PROTOCOLS["strings"]
        if epochs is not None:
            protocol = replace(protocol, epochs=epochs)
        return replace(protocol, **given(self, Training))


@options(Variant)
class ShownVariant:
    """What is asked about the puzzles, and how well their hints can be seen."""

    variant: Annotated[str, tyro.conf.arg(metavar="NAME")] = ""
    """What is asked: hints (which choice does x' become?), backwards (which choice was y' made
    from?), chain (what does x' become under all hints, one after another?) or odd-one-out (which
    pair follows another rule?); by default hints, or what a run was trained for."""
    hints: Annotated[int | None, tyro.conf.arg(help_behavior_hint=f"(default: {_hints()})")] = None
    noise: float | None = None
    covered: float | None = None

    def make(self, usual: Variant = PLAIN) -> Variant:
        """The variant that is asked for; without --variant, the usual one with these changes."""
        changes = given(self, Variant)
        return make_variant(self.variant, **changes) if self.variant else replace(usual, **changes)


@options(Variant)
class VariantOptions(ShownVariant):
    """What is asked about the puzzles, and how well their hints can be seen."""

    by: str | None = None


@options(ContinualConfig)
class ContinualOptions:
    """Learn the families of --rules one after another instead of together."""

    strategy: Annotated[str, tyro.conf.arg(name="continual", metavar="STRATEGY")] = ""


@options()
class MachineOptions:
    """Where to run."""

    device: Device = "cpu"
    threads: int = 0
    """CPU threads; 0 lets torch choose."""

    def use(self) -> None:
        """Check that the device is there, and set the number of threads."""
        use_device(self.device, self.threads)
