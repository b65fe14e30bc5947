"""One more rule for a model that one has: new slots learn it, and everything old is held as it is.

    lesson = Lesson.about("affine-omniglot", rules="swap")
    train(lesson.config, Path("runs/with-swap"))

The run is one like any other. It is tested on all rules that the model should know then, the old ones among them. A model whose
slots are in no group is shown some pairs of old rules first, to know them again when new ones have come; nothing else is learnt
from those.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from torch import nn

from fine.errors import FineError
from fine.models.fine import FINE
from fine.models.growing import MISFITS, grow, grown_to_match, in_a_group, learn_misfits
from fine.pretrained import load, trained_on
from fine.protocols import Training
from fine.rules import rule_set
from fine.runs import RunConfig
from fine.tasks import Task

LESSON = Training(epochs=12, rate=4e-3, arrival="anchor")
"""How a rule is learnt: at twice the usual rate, for slots that start from others and an encoder that is held."""
PUZZLES = 4_000
"""Training puzzles of a lesson, which has only slots to learn."""


@dataclass(frozen=True)
class Lesson:
    """What a model knows, and the run that teaches it more."""

    known: str
    """The rules it knows."""
    config: RunConfig

    @staticmethod
    def about(source: str, *, rules: str, task: str = "", known: str = "", training: Training = LESSON) -> "Lesson":
        """A lesson in ``rules`` for the model called ``source``, a name or a folder.

        Pictures and rules of before are found from the model; a folder that does not say them has to be told.
        """
        model, learned = load(source), trained_on(source)
        if learned is not None and learned.images == "folder":
            learned = None  # somebody's pictures, who did not say where they are
        if learned is None and not (task and known):
            raise FineError(f"{source} does not say what it was trained on: give --task, such as glyphs, and --known, rules")
        before = Task.preset(task, rules=rules) if task or learned is None else learned
        known = known or (before.test_rules or before.rules).partition(":")[0]
        if again := rule_set(known).families.keys() & rule_set(rules).families.keys():
            raise FineError(f"{source} knows {min(again)} already: give rules that are not among {known}")
        about = replace(before, rules=rules, test_rules=f"{known}+{rules}", train_count=PUZZLES)
        about = replace(about, channels=model.channels, size=model.size)
        settings = asdict(grow(model).config)
        return Lesson(known, RunConfig(task=about, training=training, settings=settings, grown_from=source))

    def change(self, **task: int | str) -> "Lesson":
        """The same with another task: `train_count=100, test_count=50`."""
        return replace(self, config=replace(self.config, task=replace(self.config.task, **task)))  # type: ignore[arg-type]


def to_go_on_from(source: str, task: Task, model: nn.Module) -> FINE:
    """The model called ``source``, with as many slots as the ``model`` of a lesson about this task has."""
    old = load(source)
    if old.config.groups or not isinstance(model, FINE) or model.config.groups < 2:
        return grown_to_match(old, model)
    new = rule_set(task.rules).families
    known = [family for family in rule_set(task.test_rules or task.rules).families if family not in new]
    if not known:
        raise FineError(f"it is not said what {source} knows already: give test_rules, the rules of before with the new ones")
    old = in_a_group(old)
    learn_misfits(old, replace(task, rules="+".join(known), train_count=MISFITS).training_puzzles())
    return grown_to_match(old, model)


def free_folder(source: str, rules: str) -> Path:
    """runs/MODEL+RULES, where nobody says otherwise."""
    return Path("runs") / f"{Path(source).name}+{rules}"
