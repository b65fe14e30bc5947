"""The card of a trained model: what it learned from, how to train it again, how good it is, and what it cannot do."""

import shlex
from dataclasses import Field, fields
from typing import Any

from fine.images.official import OFFICIAL
from fine.models import model_config
from fine.models.sharing import CARD
from fine.protocols import PROTOCOLS
from fine.questions import FORWARDS, question
from fine.runs import RunConfig
from fine.strings.alphabet import LONGEST
from fine.tasks import PRESETS, Task

_PICTURES = {
    "glyphs": "characters that the program draws itself",
    "omniglot": "handwritten characters of Omniglot (Lake et al., 2015; MIT licence)",
    "cifar100": "photographs of CIFAR-100 (Krizhevsky, 2009; no licence stated)",
    "mnist": "handwritten digits of MNIST (LeCun et al., 1998; no licence stated)",
    "strings": "letter strings that the program makes itself",
}
_SOLVE = {
    False: 'fine.solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png", "c.png", "d.png"])',
    True: 'fine.solve_text(model, "abc", "abd", "mmnnpp").text',
}
"""How to ask a model of pictures, and one of strings."""
_OPTIONS = ("train_count", "test_count", "size", "validation")  # what `fine train` can change of a named task


def card(name: str, config: RunConfig, result: dict[str, Any]) -> str:
    """The card of a run's model, from its config.json and result.json, as Markdown."""
    task = config.task
    low, high = result["interval"]
    families = "\n".join(f"| {family} | {puzzles:,} | {right:.1%} |" for family, puzzles, right in by_family(result))
    pictures = _PICTURES.get(task.images, task.images)
    tested = _PICTURES.get(task.test_images, task.test_images) if task.test_images else f"other classes of {task.images}"
    shape = f"{'grey' if config.channels == 1 else 'colour'} pictures of {task.size} × {task.size}"
    seen = f"It sees {shape}: what vanishes there, it cannot see."
    asked = "" if config.question == FORWARDS else f", asked “{config.question}”"
    head = CARD
    if task.shows_strings:
        head = CARD.replace("pipeline_tag: image-classification\n", "")
        tested = "other strings"
        shape = f"strings of up to {LONGEST} letters, a to z"
        seen = "It looks at a few places from either end of a string; what lies further inside, it cannot see."
    return (
        f"""{head}
# {name}

A FINE that has learned **{task.test_rules if config.grown_from else task.rules}** rules from {pictures}. It sees {shape}.

```python
import fine

model = fine.load("{name}")  # or the path of this folder
print({_SOLVE[task.shows_strings]})
```

## Training

    {recipe(config)}

{_amount(config)}, {result["minutes"]:.1f} minutes on {result["machine"]}. \
fine {result["fine"]}, torch {result["torch"]}, commit {result["commit"]}. \
With as many threads (`--threads`), on such a machine, the command makes the same weights again.

## Scores

{result["accuracy"]:.1%} of {result["puzzles"]:,} puzzles{asked} (95 % interval {low:.1%} – {high:.1%}) over {tested}, \
none of them seen in training. {_chances(result)}

| family | puzzles | right |
|---|---|---|
{families}

The wrong choices show the right object under a wrong rule, a wrong object under the right rule, or both.

## Limits

- It knows the rules it was trained on, on their grids; what is between or beyond them it has not been tested on here.
- {seen}
- It always chooses. If none of the choices is right, the probabilities may still be high.

## Licence

MIT, like the program. {_licences(task)}
""".rstrip()
        + "\n"
    )


def by_family(result: dict[str, Any]) -> list[tuple[str, int, float]]:
    """(family, puzzles, share answered right) of a result.json, in the order of its rules."""
    counts: dict[str, list[float]] = {}
    for row in result["by_rule"]:
        count = counts.setdefault(row["family"], [0, 0])
        count[0] += row["puzzles"]
        count[1] += row["puzzles"] * row["right"]
    return [(family, int(puzzles), right / puzzles) for family, (puzzles, right) in counts.items()]


def _chances(result: dict[str, Any]) -> str:
    levels = result["chance"]
    ignoring = levels.get("right object, rule ignored")
    further = "" if ignoring is None else f", one who finds the right object and ignores the rule {100 * ignoring:.0f} %"
    return f"A blind guess has {100 * levels['blind']:.0f} %{further}."


def recipe(config: RunConfig) -> str:
    """The `fine train` command that makes this run; of a task without a name, the Python that describes it."""
    task, training = config.task, config.training
    rules = task.rules.partition(":")[0] if task.test_rules else task.rules
    preset = next((name for name in (*PRESETS, task.images) if _is_preset(task, name, rules)), None)
    if preset is None:
        return f"fine.train({config!r}, folder)"
    words = ["fine", "train", "--task", preset, "--rules", rules]
    if config.model != "fine":
        words += ["--model", config.model]
    protocol = "paper" if training.schedule == PROTOCOLS["paper"].schedule else "quick"
    if protocol != "quick":
        words += ["--protocol", protocol]
    words += _changed(task, Task.preset(preset, rules=rules), [entry for entry in fields(Task) if entry.name in _OPTIONS])
    words += _changed(training, PROTOCOLS[protocol], [entry for entry in fields(training) if entry.name != "schedule"])
    if config.question != FORWARDS:
        plain = question(config.question.name)
        words += ["--ask", plain.name, *_changed(config.question, plain, list(fields(plain)))]
    if config.encoder_from:
        words += ["--encoder-from", config.encoder_from]
    usual = model_config(config.model)
    settings = [f"{key}={value}" for key, value in config.settings.items() if str(value) != str(getattr(usual, key))]
    return shlex.join([*words, *(["--set", *settings] if settings else [])])


def _is_preset(task: Task, name: str, rules: str) -> bool:
    if name not in PRESETS and not name.startswith("folder:"):
        return False
    preset = Task.preset(name, rules=rules)
    ignored = (*_OPTIONS, "data_root")
    return all(getattr(task, entry.name) == getattr(preset, entry.name) for entry in fields(Task) if entry.name not in ignored)


def _changed(given: Any, usual: Any, entries: list[Field[Any]]) -> list[str]:
    """The options whose values are not the usual ones."""
    words: list[str] = []
    for entry in entries:
        value = getattr(given, entry.name)
        if value != getattr(usual, entry.name):
            option = "--" + entry.name.replace("_", "-")
            words += [option] if value is True else [option, str(value)]
    return words


def _amount(config: RunConfig) -> str:
    epochs, fresh = config.training.epochs, ", new ones in each" if config.training.fresh and config.training.epochs > 1 else ""
    passes = f"{epochs} epoch{'s' if epochs > 1 else ''}"
    return f"{passes} of {config.task.train_count:,} puzzles{fresh}, seed {config.training.seed}"


def _licences(task: Task) -> str:
    sources = [source for source in (task.images, task.test_images) if source in OFFICIAL]
    if task.shows_strings:
        return "Nothing of others went into it."
    if not sources:
        return "No pictures of others went into it." if task.images == "glyphs" else "Its pictures are their owners'."
    return f"The pictures it was trained on have their own terms ({', '.join(sources)}); none of them are in this folder."
