"""The card of a trained model: what it learned from, how it was made, its scores, its limits."""

import shlex
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from fine.evaluation.metrics import by_family
from fine.images.letters import LONGEST
from fine.images.mixture import parts_of
from fine.images.official import OFFICIAL
from fine.models import model_config
from fine.models.hub import CARD
from fine.models.string_encoder import STRING_SETTINGS
from fine.puzzles.task import PRESETS, Task
from fine.puzzles.variants import PLAIN, make_variant
from fine.rules import rule_set
from fine.rules.families import NAMED_SETS
from fine.training.protocols import PROTOCOLS, Training
from fine.training.run import RunConfig

_SOURCES = {
    "glyphs": "characters that the program draws itself",
    "omniglot": "handwritten characters of Omniglot (Lake et al., 2015; MIT licence)",
    "cifar100": "photographs of CIFAR-100 (Krizhevsky, 2009; no licence stated)",
    "cutouts": "cut-outs of those photographs on an empty ground",
    "mnist": "handwritten digits of MNIST (LeCun et al., 1998; no licence stated)",
    "strings": "letter strings that the program makes itself",
}
_SOLVE_IMAGES = (
    'fine.solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png", "c.png", "d.png"])'
)
_SOLVE_STRINGS = 'fine.solve_text(model, "abc", "abd", "mmnnpp").text'
_CALIBRATED = """

Its confidence was fitted afterwards, by `fine calibrate RUN`."""
_LESSON_TASK_OPTIONS = ("train_count", "test_count", "size", "validation")
"""What `fine learn` can change of a named task."""
_TASK_OPTIONS = (*_LESSON_TASK_OPTIONS, "distractors", "test_distractors")
"""What `fine train` can change of a named task."""
_LESSON_OPTIONS = ("epochs", "batch", "learning_rate", "seed")
"""What `fine learn` can change of a training."""


def card(name: str, config: RunConfig, result: dict[str, Any], *, calibrated: bool = False) -> str:
    """The card of a run's model, from its config.json and result.json, as Markdown."""
    task = config.task
    low, high = result["interval"]
    counts = by_family(result["by_rule"])
    rows = "\n".join(f"| {family} | {count:,} | {right:.1%} |" for family, count, right in counts)
    harder = _same_family(name, result)
    source = _described(task.images)
    solve = _SOLVE_STRINGS if task.shows_strings else _SOLVE_IMAGES
    variant = "" if config.variant == PLAIN else f", variant “{config.variant}”"
    sections = f"""{_head(task)}
# {name}

A FINE that has learned **{_learned(config)}** rules from {source}. It sees {_shape(config)}.

```python
import fine

model = fine.load("{name}")  # or the path of this folder
print({solve})
```

## Training

    {recipe(config)}

{_amount(config)}, {result["minutes"]:.1f} minutes on {result["machine"]}. {_continual(config)}\
fine {result["fine"]}, torch {result["torch"]}, commit {result["commit"]}. \
With as many threads (`--threads`), on such a machine, the command makes the same weights again.\
{_CALIBRATED if calibrated else ""}

## Scores

{result["accuracy"]:.1%} of {result["puzzles"]:,} puzzles{variant} \
(95 % interval {low:.1%} – {high:.1%}) over {_tested_on(task)}, \
none of them seen in training. {_chances(result)}

| family | puzzles | right |
|---|---|---|
{rows}

The wrong choices show the right object under a wrong rule, a wrong object under the right rule, \
or both.{_near(task)}{harder}

## Limits

- {_known(task)}
- {_blind_spot(config)}
- It always chooses. If none of the choices is right, the probabilities may still be high.

## Licence

MIT, like the program. {_licences(task)}
"""
    return sections.rstrip() + "\n"


def recipe(config: RunConfig) -> str:
    """The command that makes this run, or the Python that does if no command can."""
    words = _learn_command(config) if _start_from(config) else _train_command(config)
    return f"fine.train({config!r}, folder)" if words is None else shlex.join(words)


def _train_command(config: RunConfig) -> list[str] | None:
    """The `fine train` command of a run; None if there is no option for something in it."""
    task, training = config.task, config.training
    rules = task.rules.partition(":")[0] if task.test_rules else task.rules
    preset = _preset(task, rules, ignored=_TASK_OPTIONS)
    if preset is None:
        return None
    words = ["fine", "train", "--task", preset, "--rules", rules]
    if config.model != "fine":
        words += ["--model", config.model]
    protocol = "paper" if training.schedule == PROTOCOLS["paper"].schedule else "quick"
    if protocol != "quick":
        words += ["--protocol", protocol]
    usual_training = PROTOCOLS[protocol]
    usual_settings = model_config(config.model)
    if task.shows_strings and protocol == "quick":
        usual_training = PROTOCOLS["strings"]
    if task.shows_strings and config.model == "fine":
        usual_settings = model_config(config.model, STRING_SETTINGS)
    if usual_training.resample_each_epoch and not training.resample_each_epoch:
        return None  # an option can only add it
    words += _changed(task, Task.preset(preset, rules=rules), _TASK_OPTIONS)
    words += _changed(training, usual_training, _names(training))
    if config.variant != PLAIN:
        variant = make_variant(config.variant.name)
        words += ["--variant", variant.name]
        words += _changed(config.variant, variant, _names(variant))
    if config.encoder_from:
        words += ["--encoder-from", config.encoder_from]
    if _strategy(config):
        words += ["--continual", _strategy(config)]
    settings = [
        f"{key}={value}"
        for key, value in config.settings.items()
        if str(value) != str(getattr(usual_settings, key))
    ]
    return words + (["--set", *settings] if settings else [])


def _learn_command(config: RunConfig) -> list[str] | None:
    """The `fine learn` command of a run; None if that cannot make it."""
    task, training = config.task, config.training
    known = task.test_rules.removesuffix(f"+{task.rules}")
    ignored = (*_LESSON_TASK_OPTIONS, "test_rules", "channels")
    preset = _preset(task, task.rules, ignored=ignored)
    usual = Training()
    others = [name for name in _names(training) if name not in _LESSON_OPTIONS]
    is_lesson = _strategy(config) == "anchor" and known != task.test_rules
    if not is_lesson or preset is None or _changed(training, usual, others):
        return None
    words = ["fine", "learn", "--from", _start_from(config), "--rules", task.rules]
    words += ["--task", preset, "--known", known]
    # Said even where it is what `fine learn` has anyway: that may change, this run does not.
    for name in ("epochs", "batch", "learning_rate"):
        words += [_option(name), str(getattr(training, name))]
    words += _changed(training, usual, ["seed"])
    for name in ("train_count", "test_count"):
        words += [_option(name), str(getattr(task, name))]
    return words + (["--validation"] if task.validation else [])


def _preset(task: Task, rules: str, ignored: Iterable[str]) -> str | None:
    """The name of the task that a task is but for what options can change, if there is one."""
    ignored = {*ignored, "data_root"}
    names = [*PRESETS, *([task.images] if task.images.startswith("folder:") else [])]
    for name in names:
        preset = Task.preset(name, rules=rules)
        if not _changed(task, preset, (field for field in _names(task) if field not in ignored)):
            return name
    return None


def _changed(given: Any, usual: Any, names: Iterable[str]) -> list[str]:
    """Options for the fields whose values are not the usual ones."""
    words: list[str] = []
    for name in names:
        value = getattr(given, name)
        if value != getattr(usual, name):
            values = value if isinstance(value, tuple) else () if value is True else (value,)
            words += [_option(name), *map(str, values)]
    return words


def _names(config: Any) -> list[str]:
    return [field.name for field in fields(config)]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


# A ContinualConfig has these two fields; it is in a layer above this one.


def _start_from(config: RunConfig) -> str:
    return getattr(config, "start_from", "")


def _strategy(config: RunConfig) -> str:
    return getattr(config, "strategy", "")


def _continual(config: RunConfig) -> str:
    """How a continual run learned, as a sentence; empty for any other run."""
    if _start_from(config):
        source = Path(_start_from(config)).name
        return f"It goes on from {source} by the continual learning strategy {_strategy(config)}. "
    if _strategy(config):
        return f"Families came one after another, strategy {_strategy(config)}. "
    return ""


# Parts of the text


def _head(task: Task) -> str:
    if task.shows_strings:
        return CARD.replace("pipeline_tag: image-classification\n", "")
    return CARD


def _described(images: str) -> str:
    """A source of images, or a mixture of several, in words."""
    *others, last = [_SOURCES.get(part, part) for part in parts_of(images)]
    return f"{', '.join(others)} and {last}" if others else last


def _learned(config: RunConfig) -> str:
    task = config.task
    if _start_from(config) and task.test_rules:
        return task.test_rules  # the rules of before among them
    return task.rules


def _shape(config: RunConfig) -> str:
    if config.task.shows_strings:
        return f"strings of up to {LONGEST} letters, a to z"
    colours = "grey" if config.channels == 1 else "colour"
    return f"{colours} images of {config.task.size} × {config.task.size}"


def _known(task: Task) -> str:
    if not task.shows_strings and set(rule_set(task.rules).families) & {*NAMED_SETS["continuous"]}:
        return (
            "It knows the families it was trained on, within their ranges; what is beyond them is "
            "not tested here."
        )
    return (
        "It knows the rules it was trained on, on their grids; what is between or beyond them is "
        "not tested here."
    )


def _blind_spot(config: RunConfig) -> str:
    if config.task.shows_strings:
        return (
            "It sees a few places from either end of a string; what lies further inside, it cannot "
            "see."
        )
    return f"It sees {_shape(config)}: what vanishes there, it cannot see."


def _tested_on(task: Task) -> str:
    if task.shows_strings:
        return "other strings"
    if task.test_images:
        return _described(task.test_images)
    return f"other classes of {task.images}"


def _amount(config: RunConfig) -> str:
    training = config.training
    epochs = f"{training.epochs} epoch{'s' if training.epochs > 1 else ''}"
    is_new = training.resample_each_epoch and training.epochs > 1
    new = ", new ones in each" if is_new else ""
    return f"{epochs} of {config.task.train_count:,} puzzles{new}, seed {training.seed}"


def _near(task: Task) -> str:
    """What the scores above are to be read with, if wrong rules are drawn close to right ones."""
    names = task.test_distractors or task.distractors
    share = {"near": "All", "any+near": "Half"}.get(names)
    return f" {share} of the wrong rules do nearly the same as the right one." if share else ""


def _same_family(name: str, result: dict[str, Any]) -> str:
    """The harder scores as a paragraph and a table; empty if they were not measured."""
    scores = result.get("same_family")
    if scores is None:
        return ""
    low, high = scores["interval"]
    counts = by_family(scores["by_rule"])
    rows = "\n".join(f"| {family} | {count:,} | {right:.1%} |" for family, count, right in counts)
    return f"""

If the wrong rules are of the same family as the right ones, {scores["accuracy"]:.1%} of \
{scores["puzzles"]:,} (95 % interval {low:.1%} – {high:.1%}; \
`fine export RUN {name} --same-family {scores["puzzles"]}`):

| family | puzzles | right |
|---|---|---|
{rows}"""


def _chances(result: dict[str, Any]) -> str:
    levels = result["chance"]
    blind = f"Guessing gives {100 * levels['blind']:.0f} %"
    ignoring = levels.get("right object, rule ignored")
    if ignoring is None:
        return f"{blind}."
    return f"{blind}, finding the right object and ignoring the rule {100 * ignoring:.0f} %."


def _licences(task: Task) -> str:
    if task.shows_strings:
        return "No data of others went into it."
    named = [*parts_of(task.images), *parts_of(task.test_images)]
    sources = [source for source in named if source in OFFICIAL]
    if sources:
        listed = ", ".join(sources)
        return (
            f"The images it was trained on have their own terms ({listed}); none of them are in "
            "this folder."
        )
    if task.images == "glyphs":
        return "No images of others went into it."
    return "Its images belong to their owners."
