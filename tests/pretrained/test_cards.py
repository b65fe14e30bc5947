"""Laws of cards: they tell the scores, and the command on a card makes the same run again."""

import dataclasses
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from fine import ContinualConfig, RunConfig, Task, Training, Variant, load, pretrained
from fine.cli.commands import read_command
from fine.cli.train import Train
from fine.continual import Lesson
from fine.continual.lessons import LESSON
from fine.evaluation import by_family
from fine.evaluation.same_family import same_family_scores
from fine.io.files import read_json
from fine.models import model_config
from fine.pretrained import trained_on
from fine.pretrained.cards import card, recipe
from fine.training import Run


def named(config: RunConfig) -> RunConfig:
    """With every setting of the model named, as a run keeps them."""
    return replace(config, settings=dataclasses.asdict(model_config(config.model, config.settings)))


def train_config(words: list[str]) -> RunConfig:
    """The run that `fine train` with these words asks for."""
    command = read_command(["train", *words])
    assert isinstance(command, Train)
    return named(command.config())


def text_of(name: str) -> str:
    return (pretrained.folder_of(name) / "README.md").read_text(encoding="utf-8")


# Bundled models


@pytest.mark.parametrize("name", pretrained.names())
def test_a_bundled_card_has_data_recipe_scores_limits_and_licence(name):
    text = text_of(name)
    assert text.startswith("---\nlicense: mit\n") and f"# {name}\n" in text
    headings = ("Training", "Scores", "Limits", "Licence")
    assert all(f"## {heading}\n" in text for heading in headings)
    assert "dirty" not in text, "a bundled model comes from a commit"


@pytest.mark.parametrize("name", pretrained.names())
def test_the_command_on_a_bundled_card_makes_its_model(name):
    lines = text_of(name).splitlines()
    (command,) = [line.strip() for line in lines if line.startswith("    fine train ")]
    config = train_config(shlex.split(command)[2:])
    assert config.task == trained_on(name)
    assert config.settings == dataclasses.asdict(load(name).config)
    assert recipe(config) == command


@pytest.mark.slow
@pytest.mark.parametrize("name", pretrained.names())
def test_a_bundled_card_is_in_the_words_of_today(name, run):
    """All but the numbers of a card is what a card of such a run says today."""
    text = text_of(name)
    config = RunConfig(task=trained_on(name), channels=load(name).channels)
    today = card(name, config, read_json(run / "result.json"))
    for heading in ("Limits", "Licence"):
        assert text.partition(f"## {heading}")[2] == today.partition(f"## {heading}")[2]
    assert text.partition("## Training")[0] == today.partition("## Training")[0]


# Cards of runs


def test_the_card_of_a_run_tells_its_scores(run):
    result = read_json(run / "result.json")
    text = card("mine", Run(run).config(), result)
    assert "# mine\n" in text and f"{result['accuracy']:.1%} of 60 puzzles" in text
    families = by_family(result["by_rule"])
    assert [family for family, _, _ in families] == ["reflection", "scale"]
    assert sum(puzzles for _, puzzles, _ in families) == 60
    right = sum(puzzles * share for _, puzzles, share in families) / 60
    assert right == pytest.approx(result["accuracy"], abs=1e-3)
    for family, puzzles, share in families:
        assert f"| {family} | {puzzles} | {share:.1%} |" in text


def test_a_card_has_the_harder_scores_if_they_were_measured(run):
    result, config = read_json(run / "result.json"), Run(run).config()
    assert "same family" not in card("mine", config, result)
    harder = same_family_scores(Run(run).load(), config.task, count=20)
    text = card("mine", config, {**result, "same_family": harder})
    assert "of the same family as the right ones" in text
    assert f"{harder['accuracy']:.1%} of 20 " in text


def test_the_card_of_a_variant_names_it(run):
    config = replace(Run(run).config(), variant=Variant("chain", hints=2))
    text = card("mine", config, read_json(run / "result.json"))
    assert "variant “a chain of 2”" in text and "--variant chain" in text


# Recipes


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--task omniglot --rules rotation --resample-each-epoch --augment-puzzles 8 --seed 3",
        "--task extreme-omniglot-mnist --rules shear --epochs 3 --train-count 500",
        "--protocol paper --model fine-nice --set slots=8 layers=2 --learning-rate 0.001",
        "--size 28 --validation --batch 32 --grad-clip 1.5 --test-count 100",
        "--task 'folder:/tmp/my images' --rules all --set standardise=none",
        "--task glyphs --encoder-from runs/first --augment-images --conjugate 0.5",
        "--variant backwards --by swapped --noise 0.1",
        "--task strings --rules all --set slots=8 standardise=image",
        "--task strings --rules all --model fine-nice --set encoder=strings",
        "--rules rotation+swap --model fine-grouped --set slots=4 groups=2 --continual anchor",
        "--rules patchwork+rotation+swap --continual rehearsal --epochs 2",
    ],
)
def test_the_recipe_on_a_card_asks_for_the_same_run(options):
    kept = train_config(shlex.split(options))
    program, command, *words = shlex.split(recipe(kept))
    assert (program, command) == ("fine", "train")
    again = train_config(words)
    assert again == kept and type(again) is type(kept)


@pytest.mark.parametrize(
    "task",
    [
        replace(Task.preset("glyphs", rules="swap"), train_classes=7),
        replace(Task.preset("glyphs", rules="swap"), test_rules="scale"),
    ],
)
def test_a_task_that_no_option_can_ask_for_is_described_in_python(task):
    text = recipe(RunConfig(task=task))
    assert text.startswith("fine.train(RunConfig(") and repr(task) in text


def test_what_options_cannot_turn_off_is_described_in_python():
    config = RunConfig(task=Task.preset("strings", rules="all"), training=Training())
    assert recipe(config).startswith("fine.train(RunConfig(")


# Continual learning


@pytest.fixture
def learn_config(monkeypatch, fine, tmp_path):
    """The run that `fine learn` with these words starts."""
    started = []

    def stop(config: ContinualConfig, folder: Path, **_: object) -> None:
        started.append(config)
        raise KeyboardInterrupt

    def start(words: list[str]) -> ContinualConfig:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("fine.cli.learn.train", stop)
        fine("learn", *words)
        (config,) = started
        return config

    return start


@pytest.mark.parametrize(
    ("source", "changes", "training"),
    [
        ("affine-omniglot", {}, LESSON),
        ("affine-cifar", {"train_count": 500}, replace(LESSON, epochs=3, seed=2)),
        ("affine-cifar", {"test_count": 100, "validation": True}, replace(LESSON, batch=8)),
    ],
)
def test_the_recipe_of_one_more_rule_is_a_lesson(learn_config, source, changes, training):
    lesson = Lesson.about(source, rules="swap", training=training).change(**changes)
    program, command, *words = shlex.split(recipe(lesson.config))
    assert (program, command) == ("fine", "learn")
    assert learn_config(words) == lesson.config


def test_the_card_of_one_more_rule_shows_how_it_was_made(run):
    lesson = Lesson.about("affine-omniglot", rules="swap")
    text = card("mine", lesson.config, read_json(run / "result.json"))
    assert "learned **affine+swap** rules" in text
    assert "fine learn --from affine-omniglot --rules swap" in text
    assert "goes on from affine-omniglot by the continual learning strategy anchor" in text


def test_the_card_of_a_sequence_shows_how_it_was_made(run):
    settings = {"slots": 4, "groups": 2}
    task = Task.preset("glyphs", rules="rotation+swap")
    config = ContinualConfig(model="fine-grouped", task=task, settings=settings, strategy="grow")
    text = card("mine", config, read_json(run / "result.json"))
    assert "--continual grow" in text and "one after another, strategy grow" in text


@pytest.mark.parametrize(
    ("strategy", "test_rules"), [("anchor", ""), ("rehearsal", "rotation+swap")]
)
def test_a_stage_that_no_command_makes_is_described_in_python(strategy, test_rules):
    task = replace(Task.preset("glyphs", rules="swap"), test_rules=test_rules)
    stage = ContinualConfig(task=task, strategy=strategy, start_from="runs/all/1-rotation")
    text = recipe(stage)
    assert text.startswith("fine.train(ContinualConfig(") and "start_from='runs/all" in text


@pytest.mark.parametrize("options", ["--test-epochs 1 2 --epochs 3", "--distractors near"])
def test_a_recipe_has_every_option_that_there_is(options):
    kept = train_config(shlex.split(options))
    words = shlex.split(recipe(kept))
    assert words[:2] == ["fine", "train"] and train_config(words[2:]) == kept
