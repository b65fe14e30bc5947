"""A function to hold: composed from hints, applied to pictures, undone, combined, compared and named.

    f = model.function(x, y)                       # or of several hints: model.function([x1, x2], [y1, y2])
    f(x2)                                          # the code (1, rows, columns) of what becomes of x2
    f.choose(x2, [a, b, c, d])                     # which of these that is
    f.inverse()(y2), (g @ f)(x2), f.power(2), f.interpolate(g, 0.5), f.distance(g), f.nearest(rules="affine"), f.vector()

Pictures are whatever `read_picture` takes. A tensor (b, channels, size, size) is b pictures, of which b functions are made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fine.errors import FineError
from fine.functions.maps import Map, compose_map
from fine.models.fine import FINE
from fine.rules import rule_set
from fine.solving.answers import Answer, fitted, read_all
from fine.solving.naming import SHARPNESS, NamedRule, distinct_rules, logits_of_rules, ranked
from fine.solving.pictures import Source

Hints = Source | Sequence[Source]
"""A picture, a tensor of b pictures, or a sequence of either, one for each hint."""


@dataclass(frozen=True, eq=False)
class Function:
    """b functions on pictures, each composed from hints of its own."""

    model: FINE
    map: Map
    """The same functions on codes."""
    goes_in: tuple[Tensor, ...]
    """Pictures (b, channels, size, size) that they are known to take: what functions are compared by."""
    comes_out: tuple[Tensor, ...]
    """Pictures that they are known to make."""

    def __len__(self) -> int:
        return len(self.map)

    def __getitem__(self, number: int) -> "Function":
        if not -len(self) <= number < len(self):
            raise FineError(f"there is no function {number}: there are {len(self)}, numbered from 0")
        one = slice(number, number + 1 or None)
        ins, outs = ([picture[one] for picture in pictures] for pictures in (self.goes_in, self.comes_out))
        return replace(self, map=self.map[one], goes_in=tuple(ins), comes_out=tuple(outs))

    @property
    def note(self) -> str:
        """How an inverse was found: exact, matrix inverse, or least squares with a ridge."""
        return self.map.note

    @torch.no_grad()
    def __call__(self, x: Source) -> Tensor:
        """The codes (b, rows, columns) of what becomes of a picture, or of b pictures."""
        return self.map(self._codes(_pictures(self.model, [x])[0]))

    @torch.no_grad()
    def choose(self, x: Source, choices: Sequence[Source]) -> Answer:
        """Which of the choices x becomes."""
        if len(self) > 1:
            raise FineError(f"these are {len(self)} functions: choose by one of them, such as f[0]")
        if len(choices) < 2:
            raise FineError(f"there are {len(choices)} choices: give at least 2 to choose from")
        pictures = torch.stack(_pictures(self.model, [x, *choices]), dim=1)
        codes = self.model.encode(pictures, firsts=[0] * pictures.shape[1])
        probabilities = (-self.model.distance(codes[:, 1:], self.map(codes[:, 0])[:, None])).softmax(1)[0]
        return Answer(int(probabilities.argmax()), tuple(probabilities.tolist()))

    def inverse(self) -> "Function":
        """What undoes the function; `note` says how well that can be done."""
        return Function(self.model, self.map.inverse(), self.comes_out, self.goes_in)

    def __matmul__(self, first: "Function") -> "Function":
        """``g @ f`` is f, and then g."""
        self._like(first)
        return Function(self.model, self.map.after(first.map), first.goes_in, self.comes_out)

    def power(self, times: float) -> "Function":
        """The function so many times; a half is what makes it when done twice, and −1 undoes it."""
        return replace(self, map=self.map.power(times))

    def interpolate(self, other: "Function", share: float) -> "Function":
        """Between this function (share 0) and another (share 1)."""
        self._like(other)
        return replace(self, map=self.map.mixed(other.map, share))

    @torch.no_grad()
    def distance(self, other: "Function") -> Tensor:  # (b,)
        """How far apart, in the model's own metric, two functions take the pictures that both were composed from."""
        self._like(other)
        codes = [self._codes(pictures) for pictures in (*self.goes_in, *other.goes_in)]
        apart = [self.model.distance(self.map(code), other.map(code)) for code in codes]
        return torch.stack(torch.broadcast_tensors(*apart)).mean(0).sqrt()

    @torch.no_grad()
    def nearest(self, *, rules: str = "all", k: int = 3) -> tuple[NamedRule, ...]:
        """The ``k`` rules of a set that do most nearly the same to the pictures of the hints, the nearest first."""
        if k < 1:
            raise FineError(f"k is {k}: give the number of rules to name, at least 1")
        if len(self) > 1:
            raise FineError(f"these are {len(self)} functions: name the rules of one of them, such as f[0]")
        warp, members = distinct_rules(rule_set(rules), self.model.size, self.goes_in[0].device)
        logits = [logits_of_rules(self.model, self.map, picture[0], warp) for picture in self.goes_in]
        return ranked(members, (SHARPNESS * torch.stack(logits).mean(0)).softmax(0))[:k]

    def vector(self) -> Tensor:
        """All numbers of the functions, a row each: (b, n)."""
        return self.map.vector()

    def _codes(self, pictures: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return self.model.encode(pictures[:, None], firsts=[0])[:, 0]

    def _like(self, other: "Function") -> None:
        if self.model is not other.model:
            raise FineError("these two functions are of different models, whose codes have nothing in common: use one model")
        if len(self) != len(other) and 1 not in (len(self), len(other)):
            raise FineError(f"there are {len(self)} functions here and {len(other)} there: give as many, or one")


@torch.no_grad()
def compose(model: FINE, x: Hints, y: Hints) -> Function:
    """The function that takes x to y; or, of several hints, the one that best takes each x to its y."""
    firsts, results = (list(hints) if isinstance(hints, list | tuple) else [hints] for hints in (x, y))
    if len(firsts) != len(results) or not firsts:
        raise FineError(f"there are {len(firsts)} pictures x and {len(results)} pictures y: give a y for every x, at least one")
    model.eval()
    pairs = [_pictures(model, pair) for pair in zip(firsts, results, strict=True)]
    codes = [model.encode(torch.stack(pair, dim=1)).unbind(1) for pair in pairs]
    goes_in, comes_out = zip(*pairs, strict=True)
    return Function(model, compose_map(model, *zip(*codes, strict=True)), goes_in, comes_out)


def _pictures(model: FINE, sources: Sequence[Source]) -> list[Tensor]:  # each (b, channels, size, size)
    """Pictures that belong together as the model sees them; nothing has happened to the first."""
    sized = [_sized(model, source) for source in sources]
    if len({len(pictures) for pictures in sized}) > 1:
        counts = ", ".join(str(len(pictures)) for pictures in sized)
        raise FineError(f"these tensors hold {counts} pictures: give as many in each")
    return list(fitted(model, torch.stack(sized, dim=1), plain=(0,)).unbind(1))


def _sized(model: FINE, source: Source) -> Tensor:  # (b, channels, size, size)
    if isinstance(source, Tensor) and source.ndim == 4:
        if not len(source):
            raise FineError("a tensor of 0 pictures makes no function: give at least one picture")
        return torch.cat([read_all(model, [picture]) for picture in source])
    return read_all(model, [source])
