"""Configurations of run folders and ledger records that earlier versions wrote, in today's words.

Format 1 had two settings of FINE as true or false. Format 2 had other names for most options, and
continual learning was one of them. Format 3 did not say how many threads a run started with, and
its checkpoints had neither configuration nor checksum. Format 4 is what this version writes.
"""

from typing import Any

from fine.models.upgrades import upgrade_settings

TRAINING_WORDS = {
    "rate": "learning_rate",
    "clip": "grad_clip",
    "fresh": "resample_each_epoch",
    "turned": "augment_images",
    "views": "augment_puzzles",
    "through": "conjugate",
}
"""Fields of `Training`: in format 2 -> now."""

VARIANT_VALUES = {"by": {"turned": "swapped"}}
"""Values of fields of `Variant`: in format 2 -> now."""


def upgrade_training(training: dict[str, Any]) -> dict[str, Any]:
    """The fields of `Training` from format 1 or 2; ``arrival`` has moved to the run."""
    words = {TRAINING_WORDS.get(name, name): value for name, value in training.items()}
    words.pop("arrival", None)
    return words


def upgrade_variant(variant: dict[str, Any]) -> dict[str, Any]:
    """The fields of `Variant` from format 1 or 2."""
    by = variant.get("by")
    if isinstance(by, str):
        return {**variant, "by": VARIANT_VALUES["by"].get(by, by)}
    return variant


def upgrade_run(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a config.json of format 1 or 2, without its format."""
    content = dict(content)
    training = content.get("training")
    strategy = training.get("arrival", "") if isinstance(training, dict) else ""
    start_from = content.pop("grown_from", "")
    if isinstance(training, dict):
        content["training"] = upgrade_training(training)
    variant = content.pop("question", None)
    if variant is not None:
        content["variant"] = upgrade_variant(variant) if isinstance(variant, dict) else variant
    model, settings = content.get("model"), content.get("settings")
    if isinstance(model, str) and isinstance(settings, dict):
        content["model"], content["settings"] = upgrade_settings(model, settings)
    if strategy or start_from:
        content |= {"kind": "continual", "strategy": strategy, "start_from": start_from}
    if start_from:
        content.pop("encoder_from", None)  # the model to start from brings its encoder
    return content
