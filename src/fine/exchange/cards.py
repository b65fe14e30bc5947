"""The card of exported puzzles: what they show, where they come from, how to score answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from fine.images.mixture import parts_of
from fine.images.official import OFFICIAL
from fine.puzzles import KINDS, Puzzles
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN

_FILES = """| name | what it is |
|---|---|
| `number` | the number of the puzzle |
{images}
| `answer` | the letter of the right choice |
| `kinds` | a digit for every choice: {kinds} |
| `family`, `rule` | the hidden rule |"""


def card(task: Task, puzzles: Puzzles, shown: Sequence[str], about: Mapping[str, Any]) -> str:
    """The card, as Markdown."""
    rules = ", ".join(puzzles.rules.families)
    kinds = ", ".join(f"{number} {kind}" for number, kind in enumerate(KINDS))
    images = "\n".join(f"| `{name}` | {_meaning(name)} |" for name in shown)
    question = "What does the image `new` become under the same rule?"
    if about["variant"] != str(PLAIN):
        question = f"What is asked: {about['variant']}."
    source = puzzles.images.name.partition(":")[0]
    size = f"{task.size} × {task.size}"
    colours = "grey" if about["channels"] == 1 else "red, green and blue"
    return f"""# {len(puzzles):,} puzzles: {puzzles.rules.name} over {source}

An image x became y under a hidden rule. {question}
Images are {size} pixels in {colours}, each value from 0 to 255.

{_FILES.format(images=images, kinds=kinds)}

## Where they come from

- Made by fine {about["fine"]}, task {_task_name(about["task"])}, rules `{puzzles.rules.name}` \
({rules}; {len(puzzles.rules)} rules), variant: {about["variant"]}.
- Split: {_split(about)}. Numbers {about["start"]} to {about["start"] + len(puzzles) - 1}.
- SHA-256 of all pixels in order: `{about["sha256"]}`.
- {_licence(task)}

## Protocol

{_protocol(task)}

## Scores

A program writes a CSV file with the columns `number` and `answer`, a letter. Then

    fine score answers.csv PUZZLES

gives accuracy with its 95 % interval, kinds of mistakes, and these levels to compare with:

| | right |
|---|---|
{_levels(about)}
"""


def _meaning(name: str) -> str:
    if name == "new":
        return "the image that is asked about"
    if name.isupper():
        return "a choice"
    if name.startswith("x"):
        return "an image of the example"
    return "what the hidden rule made of it"


def _task_name(task: Mapping[str, Any]) -> str:
    return f"`{task['name']}`" if "name" in task else f"over `{task['images']}`"


def _split(about: Mapping[str, Any]) -> str:
    if about["split"] == "training":
        return f"training puzzles of seed {about['seed']}"
    return "test puzzles, one fixed set (its seed never changes)"


def _protocol(task: Task) -> str:
    train, test = len(task.training_classes), len(task.testing_classes)
    rules = task.test_rules or task.rules
    other = f"images of {task.test_images}" if task.test_images else "other classes"
    return (
        f"Training puzzles show {train} classes of {task.images.partition(':')[0]} under the rules "
        f"`{task.rules}`; test puzzles show {other} ({test} classes) under the rules `{rules}`. "
        "Learn from training puzzles alone, and choose settings on training classes that you hold "
        "back; test puzzles choose nothing."
    )


def _levels(about: Mapping[str, Any]) -> str:
    rows = [f"| {name} | {share:.1%} |" for name, share in about["chance"].items()]
    controls = about["controls"]
    first = f"(first {controls['puzzles']:,} puzzles)"
    if "pixels" in controls:
        rows.append(f"| least-squares map between pixels {first} | {controls['pixels']:.1%} |")
    rows.append(f"| an oracle that knows all rules {first} | {controls['oracle']:.1%} |")
    return "\n".join(rows)


def _licence(task: Task) -> str:
    named = [*parts_of(task.images), *parts_of(task.test_images)]
    sources = [source for source in named if source in OFFICIAL]
    if sources:
        return f"The images are from {', '.join(sources)} and have the terms of that source."
    if task.images == "glyphs":
        return "The images are drawn by the program: MIT licence."
    return "The images belong to their owners."
