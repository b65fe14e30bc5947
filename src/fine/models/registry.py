"""Models by name: one place to build any of them from its settings.

model = make_model("fine", channels=1, size=32, settings={"slots": 16})
register_model("mine", MyModel, MyConfig())     # MyModel(config, *, channels, size)
"""

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from fine.errors import FineError, unknown

LARGEST_MODEL = 500_000_000
"""Numbers in a model: two gigabytes."""
_CERTAINLY_SMALL = 2**26
"""Numbers of the largest of our own models, if it were one matrix."""
_USUAL_PIXELS = 3 * 64 * 64
"""Numbers in the largest image for which our own models are certainly small."""


class Recipe(NamedTuple):
    """How to build a model: its class and its configuration, a dataclass."""

    model: type[nn.Module]
    config: Any


MODELS: dict[str, Recipe] = {}
"""Every model by name; `register_model` adds to it."""


def register_model(name: str, model: type[nn.Module], config: Any) -> None:
    """Make a model class known by name: it can then be trained, saved, loaded and evaluated."""
    if name in MODELS:
        raise FineError(f"there is a model called '{name}' already: choose another name")
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise FineError(
            f"the configuration of '{name}' is {config!r}: expected an instance of a dataclass"
        )
    MODELS[name] = Recipe(model, config)


def model_config(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The configuration of a model with these settings; texts are read as the type of the field."""
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    config = MODELS[name].config
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
    """An untrained model for images of this shape."""
    config = model_config(name, settings)
    return MODELS[name].model(config, channels=channels, size=size)


def name_of(model: nn.Module) -> str:
    """The name a model's class is registered by; of several, that with the most like settings."""
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
) -> None:
    """Refuse a model that would fill the memory, before any of it is made.

    A configuration may come from anywhere.
    """
    values = dataclasses.asdict(model_config(name, settings)).values()
    sizes = sorted((value for value in values if type(value) is int), reverse=True)
    largest, second = (*sizes, 1, 1)[:2]
    pixels = channels * size * size
    if largest * largest * second <= _CERTAINLY_SMALL and pixels <= _USUAL_PIXELS:
        return
    try:
        with torch.device("meta"):  # shapes without numbers; slow, so only when in doubt
            model = make_model(name, channels=channels, size=size, settings=settings)
    except (RuntimeError, OverflowError, TypeError) as problem:
        if "meta" in str(problem):  # a registered model that needs its numbers while it is made
            return
        raise FineError(
            f"a {name} of this size is too large to be counted: give it smaller settings"
        ) from problem
    numbers = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    if numbers > LARGEST_MODEL:
        raise FineError(
            f"a {name} of this size has {numbers:,} numbers, more than {LARGEST_MODEL:,}: give it "
            "smaller settings"
        )


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
    return value
