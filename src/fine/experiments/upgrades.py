"""Ledger records of format 1 in today's words.

Format 1 had every number as `accuracy`, whatever was measured, and older words for probes, settings
and training. The files stay as they are; they are upgraded each time they are read.
"""

from typing import Any

from fine.experiments.probes import METRIC_OF
from fine.models.upgrades import upgrade_settings
from fine.training.upgrades import VARIANT_VALUES, upgrade_training

PROBE_WORDS = {
    "question": "variant",
    "powers": "rotations",
    "chart": "function-map",
    "noticing": "ood",
    "refusing": "rejection",
    "confidence": "calibration",
}
"""Names of probes: in format 1 -> now."""

OPTION_WORDS = {"ask": "name", "sign": "score"}
"""Options of probes: in format 1 -> now."""

OPTION_VALUES: dict[str, dict[str, str]] = {
    **VARIANT_VALUES,
    "solver": {"alike": "most-similar"},
    "score": {"hint": "residual", "answer": "distance", "unsure": "confidence"},
}
"""Values of options, by what these are called now: in format 1 -> now."""


def upgrade_probe(probe: dict[str, Any]) -> dict[str, Any]:
    """The fields of a `Probe` from format 1; wrong ones are left for others."""
    name, options = probe.get("name"), probe.get("options")
    if isinstance(name, str):
        probe = {**probe, "name": PROBE_WORDS.get(name, name)}
    if isinstance(options, dict):
        probe = {**probe, "options": dict(map(_upgrade_option, options.items()))}
    return probe


def _upgrade_option(option: tuple[str, Any]) -> tuple[str, Any]:
    name, value = OPTION_WORDS.get(option[0], option[0]), option[1]
    if isinstance(value, str):
        value = OPTION_VALUES.get(name, {}).get(value, value)
    return name, value


def upgrade_record(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a record or failure of format 1, without its format."""
    content = dict(content)
    training, probe = content.get("training"), content.get("probe")
    model, settings = content.get("model"), content.get("settings")
    if isinstance(training, dict):
        content["strategy"] = training.get("arrival", "")
        content["training"] = upgrade_training(training)
    if isinstance(model, str) and isinstance(settings, dict):
        content["model"], content["settings"] = upgrade_settings(model, settings)
    if isinstance(probe, dict):
        content["probe"] = upgrade_probe(probe)
    if "accuracy" in content:
        content["value"] = content.pop("accuracy")
        content["metric"] = _metric(content.get("probe"))
    return content


def _metric(probe: Any) -> str:
    name = probe.get("name") if isinstance(probe, dict) else None
    return METRIC_OF.get(name, "accuracy") if isinstance(name, str) else "accuracy"
