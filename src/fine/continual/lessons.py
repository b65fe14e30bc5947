"""One more rule for a trained model: new slots learn it, and everything old is frozen.

    lesson = Lesson.about("affine-omniglot", rules="swap")
    train(lesson.config, Path("runs/with-swap"))

The run is a run like any other. It is tested on all rules that the model should know then, old and
new. A model whose slots are in no group first looks at some pairs of its old rules, to tell them
from the new ones later; nothing else is learned from those.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fine.continual.config import ContinualConfig
from fine.continual.growth import grow
from fine.errors import FineError
from fine.models import name_of
from fine.models.fine import FINE
from fine.pretrained import load, trained_on
from fine.puzzles.task import Task
from fine.rules import rule_set
from fine.training.protocols import Training

LESSON = Training(epochs=12, learning_rate=4e-3)
"""How a rule is learned: at twice the usual rate, because the encoder is frozen."""
PUZZLES = 4_000
"""Training puzzles of a lesson; few, because only slots learn."""


@dataclass(frozen=True)
class Lesson:
    """What a model knows, and the run that teaches it more."""

    known: str
    """The rules it knows."""
    config: ContinualConfig

    @staticmethod
    def about(
        source: str, *, rules: str, task: str = "", known: str = "", training: Training = LESSON
    ) -> "Lesson":
        """A lesson in ``rules`` for the model called ``source``, a name or a folder.

        Where the model's folder does not say what it was trained on, give the ``task`` for its
        images, and the rules ``known``.
        """
        model, trained = load(source), trained_on(source)
        if not isinstance(model, FINE):
            raise FineError(
                f"{source} is a model of the paper, whose memory cannot grow: give a `fine`"
            )
        if model.config.encoder == "strings":
            raise FineError(
                f"{source} reads strings: only a model of images can learn one more rule"
            )
        if trained is not None and trained.images == "folder":
            trained = None  # somebody's images; an exported model does not say where they are
        if trained is not None:
            known = known or (trained.test_rules or trained.rules).partition(":")[0]
        elif not (task and known):
            raise FineError(
                f"{source} does not say what it was trained on: give --task, such as glyphs, and "
                "--known, rules"
            )
        before = Task.preset(task, rules=rules) if task or trained is None else trained
        again = rule_set(known).families.keys() & rule_set(rules).families.keys()
        if again:
            raise FineError(
                f"{source} knows {min(again)} already: give rules that are not among {known}"
            )
        about = replace(before, rules=rules, test_rules=f"{known}+{rules}", train_count=PUZZLES)
        about = replace(about, channels=model.channels, size=model.size)
        larger = grow(model)
        config = ContinualConfig(
            model=name_of(larger),
            task=about,
            training=training,
            settings=asdict(larger.config),
            strategy="anchor",
            start_from=source,
        )
        return Lesson(known, config)

    def change(self, **fields: Any) -> "Lesson":
        """The same lesson with other fields of its task, such as `train_count=100`."""
        task = replace(self.config.task, **fields)
        return replace(self, config=replace(self.config, task=task))


def free_folder(source: str, rules: str) -> Path:
    """The default folder of a lesson: runs/MODEL+RULES."""
    return Path("runs") / f"{Path(source).name}+{rules}"
