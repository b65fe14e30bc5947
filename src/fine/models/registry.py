"""Models by name: one place to build any of them from its settings.

model = make_model("fine", channels=1, size=32, settings={"slots": 16})
register_model("mine", MyModel, MyConfig())     # MyModel(config, *, channels, size)
"""

import contextlib
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from fine.errors import FineError, unknown
from fine.plugins import find_plugin, plugin_names

LARGEST_MODEL = 100_000_000
"""Most numbers in a model: 400 MB."""
LARGEST_IMAGE = 3 * 512 * 512
"""Most numbers in an image that a model sees."""
MOST = 1_048_576
"""Largest value of a setting that counts something, such as slots or the width of a layer."""
MOST_LAYERS = 1000
"""Most layers: each is a Python object, even on the meta device."""
_USUAL_IMAGE = 3 * 64 * 64
"""Numbers in an image for which no encoder is large."""


class Recipe(NamedTuple):
    """How to build a model: its class and its configuration, a dataclass."""

    model: type[nn.Module]
    config: Any


MODELS: dict[str, Recipe] = {}
"""Every model by name; `register_model` adds to it, and `find_model` those of plug-ins."""

PLUGINS = "fine.models"
"""The group of entry points by which other packages announce a `Recipe`."""


def register_model(name: str, model: type[nn.Module], config: Any) -> None:
    """Make a model class known by name: it can then be trained, saved, loaded and evaluated.

    Args:
        name: What the model is called.
        model: A class that is made by ``model(config, channels=…, size=…)`` and turns images
            (b, 7, channels, size, size) into logits (b, 4).
        config: Its default configuration, an instance of a dataclass of numbers, texts and flags.

    Examples:
        >>> import dataclasses, fine, torch
        >>> @dataclasses.dataclass(frozen=True)
        ... class NearestConfig:
        ...     scale: float = 1.0
        >>> class Nearest(torch.nn.Module):  # ignores the rule: the choice most like x'
        ...     def __init__(self, config, *, channels, size):
        ...         super().__init__()
        ...         self.scale = torch.nn.Parameter(torch.tensor(config.scale))
        ...     def forward(self, images):
        ...         apart = images[:, 3:] - images[:, 2:3]
        ...         return -self.scale * apart.square().mean((2, 3, 4))
        >>> fine.register_model("nearest", Nearest, NearestConfig())
        >>> fine.make_model("nearest", channels=1, size=32)(torch.rand(8, 7, 1, 32, 32)).shape
        torch.Size([8, 4])
    """
    if name in MODELS:
        raise FineError(f"there is a model called '{name}' already: choose another name")
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise FineError(
            f"the configuration of '{name}' is {config!r}: expected an instance of a dataclass"
        )
    MODELS[name] = Recipe(model, config)


def find_model(name: str) -> Recipe:
    """The model of this name, of `fine` or of a plug-in."""
    if name not in MODELS:
        plugin = find_plugin(PLUGINS, name)
        if plugin is None:
            raise unknown("model", name, (*MODELS, *plugin_names(PLUGINS)))
        recipe = plugin.load()
        try:
            model, config = recipe
            register_model(name, model, config)
        except (TypeError, ValueError, FineError) as problem:
            raise plugin.refuse(f"expected fine.models.Recipe(class, config); {problem}") from None
    return MODELS[name]


def model_config(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The configuration of a model with these settings; texts are read as the type of the field."""
    config = find_model(name).config
    fields = {field.name: field for field in dataclasses.fields(config)}
    changed = {}
    for key, value in (settings or {}).items():
        if key not in fields:
            raise unknown(f"setting of model {name}", key, fields)
        changed[key] = _as_type_of(getattr(config, key), value, key)
    return dataclasses.replace(config, **changed)


def make_model(
    name: str, *, channels: int, size: int, settings: Mapping[str, Any] | None = None
) -> nn.Module:
    """An untrained model for images of this shape.

    Args:
        name: Name of the model, such as ``fine`` or ``esbn``.
        channels: Channels of the images: 1 (grey) or 3 (colour).
        size: Width and height of the images.
        settings: Settings that differ from the model's defaults, by name.

    Examples:
        >>> import fine
        >>> model = fine.make_model("fine", channels=1, size=32, settings={"slots": 16})
        >>> model.config.slots
        16
    """
    config = model_config(name, settings)
    return find_model(name).model(config, channels=channels, size=size)


def name_of(model: nn.Module) -> str:
    """The registered name of a model's class; of several, the one with the closest settings."""
    names = [name for name, recipe in MODELS.items() if recipe.model is type(model)]
    if not names:
        raise FineError(f"a {type(model).__name__} is no registered model: see `register_model`")

    def same_settings(name: str) -> int:
        own, registered = getattr(model, "config", None), MODELS[name].config
        fields = [field.name for field in dataclasses.fields(registered)]
        return sum(getattr(own, key, None) == getattr(registered, key) for key in fields)

    return max(names, key=same_settings)


def refuse_giant(
    name: str, *, channels: int, size: int, settings: Mapping[str, Any] | None = None
) -> nn.Module | None:
    """Refuse a model that would fill the memory, before any of it is made.

    A configuration may come from an untrusted file. The result is the model on the meta device,
    shapes without numbers; None if its settings alone say that it is small.
    """
    if not (channels > 0 and size > 0 and channels * size * size <= LARGEST_IMAGE):
        raise FineError(
            f"a {name} cannot see images of {channels} × {size} × {size} numbers: give at most "
            f"{LARGEST_IMAGE:,}, such as 3 × 512 × 512"
        )
    counts, usual = _counts(model_config(name, settings)), _counts(MODELS[name].config)
    for key, value in counts.items():
        most = MOST_LAYERS if key in ("layers", "encoder_depth") else MOST
        if value > max(most, usual[key]):
            raise FineError(
                f"a {name} with {key}={value} is too large: give it smaller settings, at most "
                f"{most:,} of it"
            )
    if _is_small(counts, usual) and channels * size * size <= _USUAL_IMAGE:
        return None
    try:
        with torch.device("meta"):  # torch imports a lot for it, so only when in doubt
            outline = make_model(name, channels=channels, size=size, settings=settings)
    except (RuntimeError, OverflowError, TypeError) as problem:
        if "meta" in str(problem):  # a registered model that needs its numbers while it is made
            return None
        raise FineError(
            f"a {name} of this size is too large to be counted: give it smaller settings"
        ) from problem
    numbers = sum(tensor.numel() for tensor in (*outline.parameters(), *outline.buffers()))
    if numbers > LARGEST_MODEL:
        raise FineError(
            f"a {name} of this size has {numbers:,} numbers, more than {LARGEST_MODEL:,}: give it "
            "smaller settings"
        )
    return outline


def _counts(config: Any) -> dict[str, int]:
    """The settings that are whole numbers."""
    values = dataclasses.asdict(config)
    return {key: value for key, value in values.items() if type(value) is int}


def _is_small(counts: dict[str, int], usual: dict[str, int]) -> bool:
    """Whether counts are no larger than usual, or small enough if all were multiplied."""
    if all(value <= usual[key] for key, value in counts.items()):
        return True
    # The largest thing in a model is a number of matrices, in a number of layers.
    width, matrices, layers = (*sorted(counts.values(), reverse=True), 1, 1, 1)[:3]
    return width * width * matrices * max(4, layers) <= LARGEST_MODEL


def _as_type_of(example: Any, value: Any, key: str) -> Any:
    kind = type(example)
    if isinstance(value, str) and kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        value = words.get(value.lower(), value)
    elif kind in (int, float) and isinstance(value, str | int) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):
            value = kind(value)
    if type(value) is not kind:
        words_for = {int: "a whole number", float: "a number", bool: "true or false"}
        expected = words_for.get(kind, kind.__name__)
        raise FineError(f"setting {key}={value} is not {expected}; its usual value is {example}")
    if kind is float and not math.isfinite(value):
        raise FineError(f"setting {key}={value} is not finite; its usual value is {example}")
    return value
