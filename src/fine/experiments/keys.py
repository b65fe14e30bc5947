"""Keys of cells, in the words of format 1.

    run_key(config)              # omniglot_rotation_esbn_10000x6_710b7a5b, without the seed

A result is found by its key, in the ledger and as a run folder. A key holds names and values of
settings, and a digest of all of them, so no rename may change it. Today's words are therefore
translated back, by the tables that upgrade old files read the other way round.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fine.continual import ContinualConfig
from fine.experiments.probes import Probe
from fine.experiments.upgrades import OPTION_VALUES, OPTION_WORDS, PROBE_WORDS
from fine.images.augmentation import TURNS
from fine.models import model_config
from fine.models.paper import PaperConfig
from fine.models.upgrades import PUBLISHED, SETTING_WORDS, VALUE_WORDS
from fine.puzzles.variants import PLAIN, Variant
from fine.training.run import RunConfig
from fine.training.upgrades import TRAINING_WORDS, VARIANT_VALUES

Values = Mapping[str, Mapping[Any, Any]]
"""Words for values, by today's name of the field."""


def run_key(config: RunConfig) -> str:
    """The key of a run, without its seed."""
    task, training = config.task, config.training
    images = f"{task.images}-to-{task.test_images}" if task.test_images else task.images
    settings = (f"{name}-{value}" for name, value in sorted(_changed(config).items()))
    size = f"{task.train_count}x{training.epochs}"
    strategy = (config.strategy,) if isinstance(config, ContinualConfig) else ()
    parts = (images, task.rules, _model(config), *settings, size, *strategy)
    return "_".join((*map(_as_file_name, parts), _digest(_identity(config))))


def probe_key(run: str, probe: Probe) -> str:
    """The key of a probe of the run with this key, both without the seed."""
    name = _reverse(PROBE_WORDS).get(probe.name, probe.name)
    options = _translate(probe.options, OPTION_WORDS, OPTION_VALUES)
    shown = (f"{option}-{value}" for option, value in options.items())
    parts = (name, *shown, f"{probe.count}x")
    digest = _digest({"name": name, "count": probe.count, "options": options})
    return "_".join((run, *map(_as_file_name, parts), digest))


def changed_settings(config: RunConfig) -> dict[str, Any]:
    """Settings of a run's model that differ from its defaults, by name and with their types."""
    usual = model_config(config.model)
    own = model_config(config.model, config.settings)
    named = {name: getattr(own, name) for name in sorted(config.settings)}
    return {name: value for name, value in named.items() if value != getattr(usual, name)}


def _identity(config: RunConfig) -> dict[str, Any]:
    """Everything that a result depends on except the seed, as format 1 wrote it."""
    training = _translate(asdict(config.training), TRAINING_WORDS, {})
    del training["seed"]
    if training["turned"] == TURNS:
        training["turned"] = True  # when there was no other part, it was a switch
    del training["test_epochs"]  # they change no result
    start_from = ""
    if isinstance(config, ContinualConfig):
        training["arrival"] = config.strategy
        start_from = config.start_from
    task = asdict(config.task)
    del task["data_root"]
    if task["distractors"] == "any":  # the only kind that there was
        del task["distractors"]
    return {
        "model": _model(config),
        "encoder_from": config.encoder_from,
        "grown_from": start_from,
        "question": _variant(config.variant),
        "settings": _switched_on(_all_settings(config)),
        "task": _switched_on(task),
        "training": _switched_on(training),
    }


def _model(config: RunConfig) -> str:
    """What a model was called: groups of slots were a setting of `fine`."""
    return "fine" if config.model == "fine-grouped" else config.model


def _changed(config: RunConfig) -> dict[str, Any]:
    """The settings that a key shows: those that differ from the defaults, and any groups."""
    settings = changed_settings(config)
    if config.model == "fine-grouped":
        settings["groups"] = model_config(config.model, config.settings).groups
    return _settings(settings)


def _all_settings(config: RunConfig) -> dict[str, Any]:
    """Every setting, so that another default is another cell."""
    whole = model_config(config.model, config.settings)
    # What the paper's models have and others may change was settings of theirs too.
    published = PUBLISHED if isinstance(whole, PaperConfig) else {}
    return _settings(published | asdict(whole))


def _settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a model in the words of format 1."""
    if "auxiliary_queries" in settings:
        settings["readings"] = settings.pop("auxiliary_queries") + 1
    return _translate(settings, SETTING_WORDS, VALUE_WORDS)


def _variant(variant: Variant) -> dict[str, Any]:
    return {} if variant == PLAIN else _translate(asdict(variant), {}, VARIANT_VALUES)


def _translate(
    fields: Mapping[str, Any], names: Mapping[str, str], values: Values
) -> dict[str, Any]:
    """Fields in the words of format 1; ``names`` and ``values`` are tables from then to now."""
    old = _reverse(names)
    translated = {}
    for name, value in fields.items():
        if isinstance(value, str):
            value = _reverse(values.get(name, {})).get(value, value)
        translated[old.get(name, name)] = value
    return translated


def _reverse(words: Mapping[Any, str]) -> dict[str, str]:
    """A table the other way round; of several old words for one, the texts, which came last."""
    return {now: then for then, now in words.items() if isinstance(then, str)}


def _switched_on(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that are not 0, empty or False: one added later, off by default, changes no key."""
    return {name: value for name, value in fields.items() if value}


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(_switched_on(content), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _as_file_name(text: str) -> str:
    return re.sub(r"[^a-z0-9+.=-]+", "-", text.lower()).strip("-")[:40]
