"""A numbered set of puzzles over some images, under a set of rules: a data set of torch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from fine.images import Images
from fine.puzzles.rendering import Renderer
from fine.puzzles.spec import BLIND_CHANCE, OBJECT_CHANCE, ORDER, ORDERS, RIGHT, Batch
from fine.rules import RuleSet


@dataclass(frozen=True, eq=False)
class Puzzles(Dataset[Batch]):
    """Puzzles as specs, and the images and rules that the specs name.

    `draw_puzzles` and `Task` make them. They are a map-style data set of torch: an item is a
    rendered puzzle, a slice is a smaller set of puzzles, and a DataLoader makes batches of them.

    Examples:
        >>> import fine
        >>> images, rules = fine.load_images("glyphs"), fine.rule_set("rotation")
        >>> puzzles = fine.draw_puzzles(images, rules, 100, seed=0, classes=range(20))
        >>> len(puzzles), len(puzzles[:10])
        (100, 10)
        >>> batch = puzzles.render(range(8))
        >>> batch.images.shape, batch.answers.shape
        (torch.Size([8, 7, 1, 32, 32]), torch.Size([8]))
        >>> puzzle = puzzles[0]
        >>> puzzle.images.shape, int(puzzle.answers) in range(4)
        (torch.Size([7, 1, 32, 32]), True)
    """

    images: Images
    """The images that the specs number."""
    rules: RuleSet
    """The rules that the specs number."""
    specs: NDArray[np.int32]
    """(n, 6): FIRST, SECOND, OTHER, RIGHT, WRONG, ORDER."""
    attempts: NDArray[np.uint8]
    """(n,): how many draws each puzzle took until its choices looked different."""

    def __len__(self) -> int:
        return len(self.specs)

    @overload
    def __getitem__(self, number: int) -> Batch: ...
    @overload
    def __getitem__(self, number: slice) -> Self: ...

    def __getitem__(self, number: int | slice) -> "Batch | Self":
        if isinstance(number, slice):
            return replace(self, specs=self.specs[number], attempts=self.attempts[number])
        images, answers = self._renderer(self.specs[number][None])
        return Batch(images[0], answers[0])

    def __getitems__(self, numbers: Sequence[int]) -> list[Batch]:
        """Several puzzles, rendered together: what a DataLoader asks for instead of single ones."""
        return [Batch(*puzzle) for puzzle in zip(*self.render(numbers), strict=True)]

    @cached_property
    def _renderer(self) -> Renderer:
        """A renderer that is made once, for access to puzzles one by one."""
        return self.renderer()

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n, 4): the kind of the choice at each place."""
        return ORDERS[self.specs[:, ORDER]]

    @property
    def answers(self) -> NDArray[np.int64]:
        """(n,): the place of the right choice."""
        return self.kinds.argmin(axis=1)

    @property
    def chances(self) -> dict[str, float]:
        """The accuracy of guessing blindly, and of guessing among the right objects."""
        return {"blind": BLIND_CHANCE, "right object, rule ignored": OBJECT_CHANCE}

    @property
    def hidden(self) -> NDArray[np.int32]:
        """(n,): the rule that makes y from x."""
        return self.specs[:, RIGHT]

    def renderer(self, device: torch.device | str = "cpu") -> Renderer:
        """A renderer for these images and rules, with its tables on ``device``."""
        return Renderer(self.images, self.rules, device=device)

    def render(self, numbers: Iterable[int]) -> Batch:
        """The puzzles ``numbers`` as images."""
        return self._renderer(self.specs[np.asarray(list(numbers), dtype=np.int64)])

    def texts(self, numbers: Iterable[int]) -> list[tuple[str, ...]] | None:
        """The texts x, y, x' and choices of the puzzles ``numbers``; None if they show images."""
        return None
