"""Functions that a model composed, as objects: applied, inverted, combined, compared and named.

f = fine.function(x, y, model=model)           # of several hints: [x1, x2], [y1, y2]
f(x2)                                          # the embedding (1, rows, columns) of its result
f.choose(x2, [a, b, c, d])                     # which of these that is
f.inverse()(y2), (g @ f)(x2), f.power(2), f.interpolate(g, 0.5)
f.distance(g), f.nearest(rules="affine"), f.vector()
f.rule, f.draw("new.jpg")                      # its rule, found from the pixels of the hints
"""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError
from fine.inference.answers import Answer, answers_of, named
from fine.inference.function_hints import read_together
from fine.inference.naming import (
    SHARPNESS,
    NamedRule,
    distinct_rules,
    logits_of_rules,
    ranked,
    with_first,
)
from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import Source
from fine.inference.registration import Registered
from fine.inference.rule_functions import MOST_TIMES, RuleFunction, rule_function
from fine.inference.solving import list_choices, solve
from fine.inference.verification import LIKELY, look
from fine.models.embedding_functions import EmbeddingFunction
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.rules import rule_set


@dataclass(frozen=True, eq=False)
class Function:
    """b functions on images, each composed from hints of its own.

    `function` makes them.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> x, y, new, *choices = puzzles.render([0]).images[0]
        >>> f = fine.function(x, y, model=model)
        >>> f.choose(new, choices).letter
        'C'
        >>> twice = f @ f
        >>> f.inverse().note
        'matrix inverse'
        >>> f.nearest(rules="affine", k=1)[0].family
        'reflection'
    """

    model: FINE
    """The model that composed them."""
    on_embeddings: EmbeddingFunction
    """The same functions on embeddings."""
    inputs: tuple[Tensor, ...]
    """Images (b, channels, size, size) that the functions are known to take; compared on these."""
    outputs: tuple[Tensor, ...]
    """Images that they are known to make."""
    find_exact: Callable[[int], RuleFunction] = field(repr=False)
    """Finds one of the functions, by its number, by its rule."""
    hints: ReadPuzzle | None = None
    """The images it was composed from, as they were read; None if there are several functions, or
    if it was made from other functions."""

    def __repr__(self) -> str:
        if len(self) > 1:
            return f"<{len(self)} functions composed by a model>"
        if "exact" not in self.__dict__:
            return "<function composed by a model, f.rule looks for its rule>"
        return f"<function composed by a model: {self.exact.rule}>"

    @cached_property
    def exact(self) -> RuleFunction:
        """The same function by its rule alone, if the pixels of the hints show one.

        An error says that a derived rule has no formula: the function on embeddings is all there
        is then.
        """
        if len(self) > 1:
            raise FineError(
                f"these are {len(self)} functions: ask for the rule of one, such as f[0].rule"
            )
        return self.find_exact(0)

    @property
    def rule(self) -> Registered:
        """The rule with its parameters, as the pixels of the hints show it."""
        return self.exact.rule

    def draw(self, image: Source, **options: Any) -> Any:
        """What the rule makes of an image at full size; see `RuleFunction.draw`."""
        return self.exact.draw(image, **options)

    def remap(self, height: int, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The grid of the rule, as OpenCV's remap wants it; see `RuleFunction.remap`."""
        return self.exact.remap(height, width)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule as readable JSON; `load_function` reads it."""
        self.exact.save(path)

    def __len__(self) -> int:
        return len(self.on_embeddings)

    def __getitem__(self, number: int) -> "Function":
        if not -len(self) <= number < len(self):
            raise FineError(
                f"there is no function {number}: there are {len(self)}, numbered from 0"
            )
        one = slice(number, number + 1 or None)
        return replace(
            self,
            on_embeddings=self.on_embeddings[one],
            inputs=tuple(_own(images, one) for images in self.inputs),
            outputs=tuple(_own(images, one) for images in self.outputs),
            find_exact=lambda _: self._exact(number % len(self)),
        )

    @property
    def note(self) -> str:
        """How an inverse was found: exact, matrix inverse, or least squares with a ridge."""
        return self.on_embeddings.note

    @torch.no_grad()
    def __call__(self, x: Source) -> Tensor:
        """The embeddings (b, rows, columns) of the results, for an image or for b images."""
        embeddings = self._embed(read_together(self.model, [x])[0])
        return check_finite(self.on_embeddings(embeddings))

    @torch.no_grad()
    def choose(self, x: Source, choices: Iterable[Source], *, verify: bool = True) -> Answer:
        """Which of the choices x becomes: for a function of hints, the answer of `solve`.

        With ``verify=False``, and for a function that was made from others, it is the network's.
        """
        if len(self) > 1:
            raise FineError(f"these are {len(self)} functions: choose by one of them, such as f[0]")
        shown = list_choices(choices)
        if self.hints is not None:
            return solve(self.model, *self.hints.pairs, x, shown, verify=verify)
        images = torch.stack(read_together(self.model, [x, *shown]), dim=1)
        embeddings = self.model.encode(images, firsts=[0] * images.shape[1])
        guess = self.on_embeddings(embeddings[:, 0])
        return answers_of(-self.model.distance(embeddings[:, 1:], guess[:, None]))[0]

    def inverse(self) -> "Function":
        """The inverse function; `note` says how it was found."""
        return Function(
            self.model,
            self.on_embeddings.inverse(),
            self.outputs,
            self.inputs,
            lambda number: self._exact(number).inverse(),
        )

    def __matmul__(self, first: "Function") -> "Function":
        """``g @ f`` is f, and then g."""
        self._check_like(first)
        combined = self.on_embeddings.after(first.on_embeddings)
        return Function(
            self.model,
            combined,
            first.inputs,
            self.outputs,
            lambda number: self._exact(number) @ first._exact(number),
        )

    def power(self, times: float) -> "Function":
        """The function so many times; 1/2 is the square root and −1 the inverse."""
        if not abs(times) <= MOST_TIMES:
            raise FineError(f"power {times}: give a number from −{MOST_TIMES} to {MOST_TIMES}")
        return replace(
            self,
            on_embeddings=self.on_embeddings.power(times),
            find_exact=lambda number: self._exact(number).power(times),
            hints=None,
        )

    def interpolate(self, other: "Function", share: float) -> "Function":
        """Between this function (share 0) and another (share 1)."""
        self._check_like(other)
        if not math.isfinite(share):
            raise FineError(f"share is {share}: give a number, such as 0.5 for halfway")
        between = self.on_embeddings.interpolate(other.on_embeddings, share)
        return replace(
            self,
            on_embeddings=between,
            find_exact=lambda number: self._exact(number).interpolate(other._exact(number), share),
            hints=None,
        )

    @torch.no_grad()
    def distance(self, other: "Function") -> Tensor:  # (b,)
        """How far apart two functions take the images that both were composed from.

        The distance is the model's own metric.
        """
        self._check_like(other)
        embeddings = [self._embed(images) for images in (*self.inputs, *other.inputs)]
        distances = [
            self.model.distance(self.on_embeddings(one), other.on_embeddings(one))
            for one in embeddings
        ]
        return check_finite(torch.stack(torch.broadcast_tensors(*distances)).mean(0).sqrt())

    @torch.no_grad()
    def nearest(
        self, *, rules: str = "all", k: int = 3, verify: bool = True
    ) -> tuple[NamedRule, ...]:
        """The ``k`` rules of a set that do most nearly the same to the hints, the nearest first.

        A rule that takes the pixels of x to those of y is the first. With ``verify=False`` no
        pixels are looked at, and the names are the network's alone.
        """
        if k < 1:
            raise FineError(f"k is {k}: give the number of rules to name, at least 1")
        if len(self) > 1:
            raise FineError(
                f"these are {len(self)} functions: name the rules of one of them, such as f[0]"
            )
        warp, members = distinct_rules(rule_set(rules), self.model.size, self.inputs[0].device)
        logits = [
            logits_of_rules(self.model, self.on_embeddings, images[0], warp)
            for images in self.inputs
        ]
        names = ranked(members, (SHARPNESS * torch.stack(logits).mean(0)).softmax(0))
        if verify and self.hints is not None:
            tried = LIKELY if rules == "all" else rules  # as `solve` does
            names = with_first(named(look(self.hints, rules=tried)), names)
        return names[:k]

    def vector(self) -> Tensor:  # (b, n)
        """All numbers of the functions, one row each."""
        return check_finite(self.on_embeddings.vector())

    def _exact(self, number: int) -> RuleFunction:
        """One of the functions by its rule; a single one stands for any, and is found once."""
        return self.exact if len(self) == 1 else self.find_exact(number)

    def _embed(self, images: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return self.model.encode(images[:, None], firsts=[0])[:, 0]

    def _check_like(self, other: "Function") -> None:
        if self.model is not other.model:
            raise FineError(
                "these two functions are of different models, whose embeddings cannot be compared: "
                "use one model"
            )
        if len(self) != len(other) and 1 not in (len(self), len(other)):
            raise FineError(
                f"there are {len(self)} functions here and {len(other)} there: give as many, or one"
            )


def _own(images: Tensor, one: slice) -> Tensor:  # (b or 1, …) -> (1, …)
    """The images of one function; those of a single one belong to all."""
    return images[one] if len(images) > 1 else images


def exact_function(before: Sequence[Source], after: Sequence[Source]) -> RuleFunction:
    """The function behind hints by its rule, which refuses to draw if it explains nothing."""
    found = rule_function(before, after, anyway=True)
    return replace(found, anyway=False)
