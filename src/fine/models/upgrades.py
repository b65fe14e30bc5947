"""Settings of models that earlier versions wrote, in today's words.

    upgrade_settings("fine", {"code": 256, "groups": 3})
    # ("fine-grouped", {"embedding_size": 256, "groups": 3})

Earlier versions had other words for most settings, groups of slots as a setting of `fine`, and
`fine-nice` and `fine-mlp` as eleven settings of the same class.
"""

import dataclasses
from typing import Any

from fine.models.registry import MODELS

FINES = ("fine", "fine-nice", "fine-mlp")
"""Models that earlier versions had as one class."""

SETTING_WORDS = {"code": "embedding_size", "thorough": "score_all_directions"}
"""Settings: what they were called -> what they are called."""

VALUE_WORDS: dict[str, dict[str | bool, str]] = {
    "symmetry": {"together": "conjugate", "apart": "two-sided"},
    "analogy": {"fit": "least-squares"},
    "standardise": {"picture": "image", True: "image", False: "none"},
}
"""Values of settings of a FINE: what they were called -> what they are called."""

PUBLISHED: dict[str, Any] = {
    "standardise": "none",
    "columns": 1,
    "analogy": "similarity",
    "symmetry": "none",
    "ridge": 0.0,
    "keys": "own",
    "auxiliary_queries": 0,
    "score_all_directions": False,
    "slot_form": "",
}
"""Settings of `fine` that make it the paper's model, which has none of them."""


def upgrade_settings(model: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of a model and its settings in today's words; what is wrong is left as it is."""
    own = _fields(model)  # of which a registered model may have some by an old name
    words = {
        name if name in own else SETTING_WORDS.get(name, name): value
        for name, value in settings.items()
    }
    if model not in FINES:
        return model, words
    words = _upgrade_values(words)
    groups = words.pop("groups", 0)
    if model != "fine":
        model, words = _upgrade_published(model, words, grouped=bool(groups))
    return ("fine-grouped", {**words, "groups": groups}) if groups else (model, words)


def _upgrade_values(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a FINE with values in today's words."""
    words = dict(settings)
    if isinstance(words.get("tied"), bool):
        words["keys"] = "tied" if words.pop("tied") else "own"
    if isinstance(words.get("readings"), int):
        words["auxiliary_queries"] = words.pop("readings") - 1  # the puzzle as asked is not counted
    for name, values in VALUE_WORDS.items():
        value = words.get(name)
        if isinstance(value, str | bool):
            words[name] = values.get(value, value)
    return words


def _upgrade_published(
    model: str, settings: dict[str, Any], *, grouped: bool
) -> tuple[str, dict[str, Any]]:
    """A paper's model, or with settings beyond the paper's, the `fine` that is the same model."""
    beyond = {name: settings[name] for name in settings.keys() & PUBLISHED.keys()}
    if not grouped and all(value == PUBLISHED[name] for name, value in beyond.items()):
        return model, {name: value for name, value in settings.items() if name not in beyond}
    paper = dataclasses.asdict(MODELS[model].config)
    return "fine", {**PUBLISHED, **paper, **settings}


def _fields(model: str) -> frozenset[str]:
    """The settings of a model; none, if it is not registered."""
    if model not in MODELS:
        return frozenset()
    return frozenset(field.name for field in dataclasses.fields(MODELS[model].config))
