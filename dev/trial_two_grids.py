"""Whether a coarse and a fine grid of places together are better than either alone.

    python dev/trial_two_grids.py extreme-cifar100-translation extreme-cifar100-shear

Trains both, apart, as a column of table 4 does, with classes held back, and tests them on these
classes under the rules of training and under rules between (trial_configuration.py): each alone and
both together, their log-distances added, scored as asked and in all directions. Eight minutes of
one core a column.
"""

import argparse
from dataclasses import replace

import torch
from torch import Tensor, nn

from fine.evaluation import evaluate
from fine.models.fine import FINE
from fine.puzzles.task import Task
from fine.training import RunConfig, Training
from trial_augmentation import trained
from trial_configuration import tests

GRIDS: dict[str, tuple[float, dict[str, object]]] = {
    "coarse": (0.004, {"backbone": "residual", "keys": "shared"}),
    "fine": (0.008, {"embedding_size": 1024, "slots": 4, "encoder_depth": 1}),
}
"""Learning rate and settings of each grid."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("columns", nargs="+", help="extreme-cifar100-shear, …")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--count", type=int, default=1_500, help="test puzzles of each kind")
    parser.add_argument("--train-count", type=int, help="training puzzles, to try it out")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for column in asked.columns:
        source, _, rules = column.rpartition("-")
        task = replace(Task.preset(source, rules=rules), validation=True, test_count=asked.count)
        if asked.train_count:
            task = replace(task, train_count=asked.train_count)
        try_column(column, task, asked.epochs, asked.count)


def try_column(column: str, task: Task, epochs: int, count: int) -> None:
    """Train both grids of a column, and print what they reach."""
    models: dict[str, FINE] = {}
    for name, (rate, settings) in GRIDS.items():
        training = Training(
            epochs=epochs, learning_rate=rate, augment_images="all", resample_each_epoch=True
        )
        config = RunConfig("fine", task, training, {"standardise": "pair", **settings})
        models[name], cost = trained(config)
        print(column, name, cost, flush=True)
    for kind, puzzles in tests(config, count).items():
        for directions in (False, True):
            for one in models.values():
                one.config = replace(one.config, score_all_directions=directions)
            shown: dict[str, nn.Module] = {**models, "both": Together(**models).eval()}
            reached = {name: 100 * evaluate(one, puzzles).accuracy for name, one in shown.items()}
            scored = "all directions" if directions else "as asked"
            print(column, kind, scored, {name: f"{it:.1f}" for name, it in reached.items()})


class Together(nn.Module):
    """Two trained models as one, their log-distances added."""

    def __init__(self, coarse: FINE, fine: FINE):
        super().__init__()
        self.grids = nn.ModuleList([coarse, fine])

    def forward(self, images: Tensor) -> Tensor:  # (b, 7, channels, size, size) -> (b, 4)
        logits = torch.stack([grid(images) for grid in self.grids])
        if self.grids[0].config.score_all_directions:
            return logits.sum(0)  # these are −log distances already
        return -(-logits).clamp(min=1e-12).log().sum(0)


if __name__ == "__main__":
    main()
