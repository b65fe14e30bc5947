"""How models are trained with augmentation: for longer, on new puzzles, half of them augmented.

training = augmented(PROTOCOLS["quick"])            # the same for all models of `same-budget`
training = ours(PROTOCOLS["quick"], task)           # that of `fine-pyramid`
"""

from dataclasses import replace

from fine.puzzles.task import Task
from fine.training.protocols import Training

LONGER = 2
"""How many times as many epochs as usual."""
OUR_RATE = 4
"""How many times the usual learning rate our models have. It was chosen on training classes that
were held back, for a grid of 8 × 8 places: with the quick protocol that of `augmented`."""
CONJUGATED = 0.5
"""Share of the puzzles that are shown under a further training rule."""


def augmented(training: Training) -> Training:
    """New puzzles in every epoch, half of them over augmented images, and half of them conjugated.

    That makes more epochs worth it. Drawings help images of another kind, and puzzles that stay as
    they are help those of the same kind under rules never seen (dev/log.md).
    """
    return replace(
        training,
        epochs=LONGER * training.epochs,
        resample_each_epoch=True,
        augment_images="all",
        unaugmented=0.5,
        conjugate=CONJUGATED,
    )


def ours(training: Training, task: Task) -> Training:
    """The training of `fine-pyramid` in the paper's tables.

    Puzzles are conjugated only where the test has rules that training has not: a large shear of a
    large shear leaves little of an image, and costs two points on seen shears (dev/log.md).
    """
    rate = OUR_RATE * training.learning_rate
    conjugate = CONJUGATED if task.test_rules else 0.0
    return replace(augmented(training), learning_rate=rate, conjugate=conjugate)
