"""Models by name. All have the same call: pictures (b, 7, channels, size, size) in, four logits (b, 4) out.

model = make_model("fine", channels=1, size=32)
register_model("mine", MyModel, MyConfig())     # MyModel(config, *, channels, size); then `--model mine` works everywhere
"""

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from torch import nn

from fine.errors import FineError, unknown
from fine.models.controls import Control, ControlConfig
from fine.models.esbn import ESBN, ESBNConfig
from fine.models.fine import FINE, FINEConfig
from fine.models.hyper_net import HyperNet, HyperNetConfig
from fine.models.predi_net import PrediNet, PrediNetConfig
from fine.models.relation_net import RelationNet, RelationNetConfig
from fine.models.transformer import Transformer, TransformerConfig


class Recipe(NamedTuple):
    """How to build a model: its class and its configuration, a dataclass."""

    model: type[nn.Module]
    config: Any


MODELS: dict[str, Recipe] = {}
"""Every model by name; `register_model` adds to it."""


def register_model(name: str, model: type[nn.Module], config: Any) -> None:
    """Make a model class known by name: it can then be trained, saved, loaded and evaluated like any other."""
    if name in MODELS:
        raise FineError(f"there is a model called '{name}' already: choose another name")
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise FineError(f"the configuration of '{name}' is {config!r}: expected an instance of a dataclass")
    MODELS[name] = Recipe(model, config)


def model_config(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The configuration of the model called ``name``, with some settings replaced (texts are read as the field's type)."""
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


def make_model(name: str, *, channels: int, size: int, settings: Mapping[str, Any] | None = None) -> nn.Module:
    """An untrained model for pictures of this shape."""
    config = model_config(name, settings)
    return MODELS[name].model(config, channels=channels, size=size)


def _as_type_of(example: Any, value: Any, key: str) -> Any:
    kind = type(example)
    if isinstance(value, str) and kind is bool:
        value = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(value.lower(), value)
    elif kind in (int, float) and isinstance(value, str | int) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):
            value = kind(value)
    if type(value) is not kind:
        expected = {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, kind.__name__)
        raise FineError(f"setting {key}={value} is not {expected}; its usual value is {example}")
    return value


register_model("fine", FINE, FINEConfig())
_AS_PUBLISHED = FINEConfig(
    encoder="p4-cnn",
    standardise="none",
    code=128,
    columns=1,
    slots=48,
    analogy="similarity",
    symmetry="none",
    layers=4,
    ridge=0.0,
    keys="own",
    readings=1,
)
register_model("fine-nice", FINE, replace(_AS_PUBLISHED, backbone="nice"))
register_model("fine-mlp", FINE, replace(_AS_PUBLISHED, backbone="mlp"))
register_model("esbn", ESBN, ESBNConfig())
register_model("transformer", Transformer, TransformerConfig())
register_model("hyper-net", HyperNet, HyperNetConfig())
register_model("predi-net", PrediNet, PrediNetConfig())
register_model("relation-net", RelationNet, RelationNetConfig())
register_model("blind", Control, ControlConfig())
register_model("object-only", Control, ControlConfig(sees_object=True))
