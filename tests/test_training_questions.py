"""Other questions than the plain one, trained for: every model that can be asked, and a line for every one that cannot."""

import json
from dataclasses import replace

import pytest
import torch

from fine import RunConfig, Task, Training, train
from fine.errors import FineError
from fine.experiments import Cell
from fine.functions.answering import Answering
from fine.pretrained.cards import card
from fine.progress import Silent
from fine.questions import FORWARDS, Question
from fine.runs import Run
from fine.training import Trainer, resume

TASK = replace(Task.preset("glyphs", rules="rotation"), train_count=96, test_count=40)
TINY = RunConfig(task=TASK, training=Training(epochs=2, batch=32))
CHAIN = replace(TINY, question=Question("chain", hints=2))


@pytest.mark.parametrize(
    ("question", "model"),
    [
        (Question("hints", hints=3, noise=0.2), "fine"),
        (Question("backwards"), "fine"),
        (Question("backwards"), "fine-nice"),
        (Question("backwards", by="turned"), "transformer"),
        (Question("odd-one-out", hints=3), "fine"),
    ],
    ids=str,
)
def test_a_question_can_be_trained_for(tmp_path, question, model):
    config = replace(TINY, model=model, question=question)
    evaluation = train(config, tmp_path)
    assert evaluation.puzzles.question == Run(tmp_path).config().question == question
    assert (tmp_path / "puzzles.png").exists()
    told = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert told["accuracy"] == round(evaluation.accuracy, 5)
    assert f"asked “{question}”" in card("it", Run(tmp_path).config(), told)


def test_what_is_asked_is_what_is_learned(tmp_path):
    trainer = Trainer(Run(tmp_path), CHAIN, torch.device("cpu"))
    batch = trainer.puzzles.render(range(8))
    assert batch.pictures.shape[1] == 9  # two hints, x' and four choices
    logits = Answering(trainer.model.eval(), CHAIN.question)(batch.pictures)
    torch.testing.assert_close(trainer.asked.eval()(batch.pictures), logits)
    logits.sum().backward()
    assert all(parameter.grad is not None for parameter in trainer.model.encoder.parameters())
    used = set(trainer.puzzles.images.labels[trainer.puzzles.specs[:, [0, 1, 2, 7]].astype("int64")].flatten().tolist())
    assert used <= set(CHAIN.task.training_classes)  # the further hints, too


def test_a_chain_that_was_stopped_resumes_to_the_same_bits(tmp_path):
    class StopAtOnce(Silent):
        def epoch(self, **_: float) -> None:
            raise KeyboardInterrupt

    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    train(CHAIN, whole)
    with pytest.raises(KeyboardInterrupt):
        train(CHAIN, stopped, progress=StopAtOnce())
    resume(stopped)
    assert Run(stopped).weights.read_bytes() == Run(whole).weights.read_bytes()


def test_a_run_is_tested_with_what_it_was_trained_for_unless_asked_otherwise(fine, tmp_path):
    folder = tmp_path / "run"
    options = ("--rules", "rotation", "--train-count", 64, "--test-count", 40, "--epochs", 1)
    done = fine("train", *options, "--ask", "backwards", "--by", "tried", "--out", folder)
    assert done.code == 0 and "asked 'backwards, by tried'" in done.out
    assert "asked: backwards, by tried" in fine("evaluate", folder, "--picture", tmp_path / "sheet.png").out
    assert (tmp_path / "sheet.png").exists()
    assert "asked: backwards, by turned" in fine("evaluate", folder, "--by", "turned").out
    assert "asked: " not in fine("evaluate", folder, "--ask", "hints").out
    assert "asked: a chain of 2" in fine("evaluate", folder, "--ask", "chain").out


def test_another_question_is_another_cell_and_the_plain_one_none():
    assert Cell(CHAIN).key != Cell(TINY).key == Cell(replace(TINY, question=FORWARDS)).key
    assert Cell(CHAIN).key != Cell(replace(TINY, question=Question("chain", hints=3))).key


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (replace(CHAIN, model="esbn"), "composes no function, so it cannot be asked 'a chain of 2'"),
        (replace(CHAIN, task=Task.preset("strings", rules="all")), "strings are asked about with one plain hint"),
        (replace(CHAIN, training=Training(arrival="anchor")), "rules that arrive one after another are asked about plainly"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_written(tmp_path, config, message):
    with pytest.raises(FineError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
