"""IQ puzzles as integers, and the renderer that turns them into images.

    puzzles = draw_puzzles(load_images("glyphs"), rule_set("rotation"), 1000, seed=0)
    batch = puzzles.render(range(32))    # batch.images (32, 7, 1, 32, 32), batch.answers (32,)

Each file has one purpose:

- spec.py: what a puzzle is; puzzles.py: `Puzzles`, a numbered set of them.
- sampling.py draws puzzles; distinct.py decides whether their choices look different.
- rendering.py turns specs into images; augmentation.py moves or warps these images for training.
- variants.py: several hints, backwards, chains, odd one out; variant_kinds.py: a class for each.
- strings.py: puzzles over letter strings.
- task.py: `Task`, which splits images and rules into training and test.
"""

from fine.puzzles.puzzles import Puzzles
from fine.puzzles.rendering import Renderer
from fine.puzzles.sampling import draw_puzzles
from fine.puzzles.spec import (
    BLIND_CHANCE,
    FIRST,
    KINDS,
    OBJECT_CHANCE,
    ORDER,
    ORDERS,
    OTHER,
    RIGHT,
    SECOND,
    WRONG,
    Batch,
)
from fine.puzzles.task import PRESETS, Task
from fine.puzzles.variants import PLAIN, Variant, VariantPuzzles, make_variant

__all__ = [
    "BLIND_CHANCE",
    "FIRST",
    "KINDS",
    "OBJECT_CHANCE",
    "ORDER",
    "ORDERS",
    "OTHER",
    "PLAIN",
    "PRESETS",
    "RIGHT",
    "SECOND",
    "WRONG",
    "Batch",
    "Puzzles",
    "Renderer",
    "Task",
    "Variant",
    "VariantPuzzles",
    "draw_puzzles",
    "make_variant",
]
