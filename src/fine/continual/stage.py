"""One stage: a trained model learns one more family, by a continual learning strategy."""

from fine.continual.config import ContinualConfig
from fine.continual.growth import freeze
from fine.continual.rehearsal import rehearsed
from fine.models.groups import GroupedFINE
from fine.puzzles import Puzzles
from fine.training.trainer import Trainer


class StageTrainer(Trainer):
    """Trains with parts of the model frozen, or with old puzzles among the new ones.

    At the end, a new group of slots learns its residuals.
    """

    config: ContinualConfig

    def prepare(self) -> None:
        freeze(self.model, self.config.strategy)

    def draw(self) -> Puzzles:
        if self.config.strategy == "rehearsal":
            return rehearsed(self.config.task, seed=self.config.training.seed)
        return super().draw()

    def after_training(self) -> None:
        if isinstance(self.model, GroupedFINE):
            seed = self.config.training.seed
            self.model.learn_residuals(self.config.task.training_puzzles(seed=seed))
