"""Other questions about the same puzzles: with several hints, backwards, of rules one after another, and the odd one out.

    puzzles = task.test_puzzles(Question("chain", hints=2))
    batch = puzzles.render(range(32))          # batch.pictures (32, 9, 1, 32, 32): x₁ y₁ x₂ y₂, x' and the four choices

- **hints**: one rule is shown on several pictures; the choices are those of the plain puzzle.
- **backwards**: x → f(x) is shown, then y', and the choices are what y' may have been made from: two pictures, each under two
  rules, of which f takes one to y'.
- **chain**: every hint shows another rule; the answer is x' under all of them, in their order. In the wrong choices one of
  the rules, any of them, is another one.
- **odd-one-out**: several pairs are shown, all under one rule but for one of them, which is to be found. There are no choices.

The further integers that this takes are a hash of the six of the plain puzzle. Where the choices, or what f makes of them, look
alike, they are drawn again; as that is decided on rendered pictures, a choice right at the limit may differ between machines.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError, unknown
from fine.puzzles import FIRST, ORDER, OTHER, RIGHT, SECOND, VISIBLE, WRONG, Batch, Puzzles, Renderer
from fine.randomness import random_below, random_bits, random_uniform
from fine.rules import RuleSet

QUESTIONS = ("hints", "backwards", "chain", "odd-one-out")
USUAL = {"chain": 2, "odd-one-out": 4}
"""Hints that are shown where nothing is said, if not one."""
WAYS = ("inverse", "turned", "tried")
"""How a backwards puzzle can be solved: by the inverse of f, by the function composed from y → x, by f tried on the choices."""

_ADDRESSES = {"hints": 0, "backwards": 1, "chain": 2, "odd-one-out": 4}  # of random numbers, so that no two uses share any
_SPOILT = 3
_MORE = ORDER + 1  # the first further column of a spec
_ATTEMPTS = 200
_CHUNK = 256  # puzzles rendered together while they are drawn


@dataclass(frozen=True)
class Question:
    """What is asked about a puzzle, and how well its hints can be seen."""

    name: str = "hints"
    """hints, backwards, chain or odd-one-out."""
    hints: int = 1
    """Pairs x → y that are shown."""
    noise: float = 0.0
    """Share of the pixels of hints that have a random brightness instead of their own."""
    covered: float = 0.0
    """Share of the pictures of hints that a black square covers, anywhere, in x and y each."""
    by: str = "inverse"
    """How a backwards puzzle is solved: inverse, turned or tried."""

    def __post_init__(self) -> None:
        if self.name not in QUESTIONS:
            raise unknown("question", self.name, QUESTIONS)
        if self.by not in WAYS:
            raise unknown("way backwards", self.by, WAYS)
        least, most = {"hints": (1, 50), "backwards": (1, 1), "chain": (2, 10), "odd-one-out": (3, 10)}[self.name]
        if not least <= self.hints <= most:
            raise FineError(f"'{self.name}' with {self.hints} hints: give {f'{least} to {most}' if most > least else least}")
        for name in ("noise", "covered"):
            if not 0 <= getattr(self, name) < 1:
                raise FineError(f"{name} is {getattr(self, name)}: give a share of at least 0 and less than 1")

    def __str__(self) -> str:
        number = "1 hint" if self.hints == 1 else f"{self.hints} hints"
        texts = {"hints": number, "backwards": f"backwards, by {self.by}", "chain": f"a chain of {self.hints}"}
        texts["odd-one-out"] = f"the odd one out of {self.hints}"
        spoilt = [f"{share:.0%} {word}" for share, word in ((self.noise, "noise"), (self.covered, "covered")) if share]
        return ", ".join((texts[self.name], *spoilt))


def question(name: str, *, hints: int = 0, noise: float = 0.0, covered: float = 0.0, by: str = "") -> Question:
    """What is asked, where what is 0 or empty is as usual for it."""
    return Question(name, hints or USUAL.get(name, 1), noise, covered, by or Question.by)


FORWARDS = Question()
"""One hint: the plain puzzle."""


@dataclass(frozen=True)
class Asked(Puzzles):
    """Puzzles with another question. Their specs have further columns: images of further hints, a rule, links of a chain."""

    question: Question = FORWARDS

    @property
    def hidden(self) -> NDArray[np.int32]:
        return self.specs[:, _MORE if self.question.name == "backwards" else RIGHT]

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n, k): the kind of the choice at each place; of the odd one out, right is the pair under the other rule."""
        if self.question.name != "odd-one-out":
            return super().kinds
        return (np.arange(self.question.hints) != self.specs[:, [_MORE]]).astype(np.int64)

    @property
    def chances(self) -> dict[str, float]:
        return {"blind": 1 / self.question.hints} if self.question.name == "odd-one-out" else super().chances

    def renderer(self, device: torch.device | str = "cpu") -> "QuestionRenderer":
        return QuestionRenderer(self, device)


def ask(puzzles: Puzzles, question: Question, *, classes: Iterable[int]) -> Asked:
    """The question about each of these puzzles, with further pictures of the given classes."""
    asked = Asked(puzzles.images, puzzles.rules, puzzles.specs, puzzles.attempts, question)
    labels = puzzles.images.labels.numpy()
    pool = np.flatnonzero(np.isin(labels, list(classes)))
    specs = np.concatenate([puzzles.specs, np.zeros((len(puzzles), _columns(question)), dtype=np.int32)], axis=1)
    pending = np.arange(len(puzzles))
    for attempt in range(_ATTEMPTS):
        base = random_bits(_ADDRESSES[question.name], *puzzles.specs[pending].T, attempt)
        specs[pending, _MORE:] = _further(question, base, pool, puzzles.rules)
        fit = _fit(replace(asked, specs=specs[pending]), labels)
        pending = pending[~fit]
        if not len(pending):
            return replace(asked, specs=specs)
    raise FineError(
        f"after {_ATTEMPTS} draws puzzle {pending[0]} of {puzzles.images.name} × {puzzles.rules.name}, {question}, still has "
        f"choices that look alike or hints of the class it asks about: use more pictures, or other rules"
    )


def _columns(question: Question) -> int:
    further = question.hints - 1
    return {"hints": further, "backwards": 1, "chain": 1 + 2 * further, "odd-one-out": further - 1}[question.name]


def _further(question: Question, base: NDArray[np.uint64], pool: NDArray[np.int64], rules: RuleSet) -> NDArray[np.int64]:
    """The further integers (n, columns) of puzzles, from random bits each."""

    def rule(stream: int) -> NDArray[np.int64]:  # the family first, as in all puzzles
        members = list(rules.families.values())
        sizes = np.array([len(family) for family in members])
        family = random_below(len(members), base, stream)
        return np.concatenate(members)[(np.cumsum(sizes) - sizes)[family] + random_below(sizes[family], base, stream + 1)]

    images = [pool[random_below(len(pool), base, hint)] for hint in range(1, question.hints)]
    if question.name == "backwards":
        return rule(100)[:, None]
    if question.name == "hints":
        return np.stack(images, axis=1) if images else np.empty((len(base), 0), dtype=np.int64)
    if question.name == "odd-one-out":  # its first three pictures are those of the plain puzzle
        return np.stack((random_below(question.hints, base, 0), *images[2:]), axis=1)
    links = [column for hint, image in enumerate(images) for column in (image, rule(100 + 2 * hint))]
    return np.stack((random_below(question.hints, base, 0), *links), axis=1)


def _fit(asked: Asked, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether further hints are of other classes than x' and not x'', and the choices can be told apart: bool (n,)."""
    specs, question = asked.specs, asked.question
    further = {"hints": slice(_MORE, None), "backwards": slice(0, 0), "chain": slice(_MORE + 1, None, 2)}
    if question.name == "odd-one-out":
        ordered = np.sort(np.concatenate((specs[:, [FIRST, SECOND, OTHER]], specs[:, _MORE + 1 :]), axis=1), axis=1)
        return (np.diff(ordered, axis=1) > 0).all(axis=1) & _apart(asked)
    images = specs[:, further[question.name]]
    fit = ((labels[images] != labels[specs[:, [SECOND]]]) & (images != specs[:, [OTHER]])).all(axis=1)
    return fit if question.name == "hints" else fit & _apart(asked)


def _apart(asked: Asked) -> NDArray[np.bool_]:
    render, specs = asked.renderer(), asked.specs
    apart: NDArray[np.bool_] = torch.cat(
        [render.told_apart(specs[at : at + _CHUNK]) for at in range(0, len(specs), _CHUNK)]
    ).numpy()
    return apart


class QuestionRenderer(Renderer):
    """Turns specs of a question into pictures: hints x₁ y₁ x₂ y₂ …, then, unless one of them is the odd one out, x' (or y') and
    the four choices."""

    def __init__(self, asked: Asked, device: torch.device | str = "cpu"):
        super().__init__(asked.images, asked.rules, device=device)
        self.question = asked.question

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        spec = torch.from_numpy(specs).to(self.device).long()
        kinds = self.kinds[spec[:, ORDER]]  # (b, 4)
        images, rules = self._hints(spec)
        x = self._plain(images)  # (b, hints, channels, h, w)
        hints = torch.stack((x, self._under(x, rules)), dim=2).flatten(1, 2)
        if self.question.name == "odd-one-out":
            return Batch(self._spoilt(hints, specs), spec[:, _MORE])
        choices = self._choices(spec, kinds)
        answers = (kinds == 0).int().argmax(dim=1)
        new = self._plain(spec[:, [SECOND]])
        if self.question.name == "backwards":
            right = choices[torch.arange(len(spec), device=self.device), answers]
            new = self._under(right[:, None], spec[:, [_MORE]])
        return Batch(torch.cat((self._spoilt(hints, specs), new, choices), dim=1), answers)

    def told_apart(self, specs: NDArray[np.int32]) -> Tensor:
        """Whether the choices, and backwards what f makes of them, differ: bool (b,)."""
        spec = torch.from_numpy(specs).to(self.device).long()
        if self.question.name == "odd-one-out":
            odd = self._plain(self._hints(spec)[0].gather(1, spec[:, [_MORE]])).expand(-1, 2, -1, -1, -1)
            return self._differ(self._under(odd, spec[:, [RIGHT, WRONG]]))
        seen = self._choices(spec, self.kinds[spec[:, ORDER]])
        if self.question.name == "backwards":
            seen = self._under(seen, spec[:, [_MORE]].expand(-1, 4))
        return self._differ(seen)

    def _differ(self, seen: Tensor) -> Tensor:  # (b, n, channels, h, w) -> (b,)
        soft = F.avg_pool2d(seen.mean(2), 2).flatten(2)  # (b, 4, pixels), in grey
        pairs = itertools.combinations(soft.unbind(1), 2)
        return torch.stack([(one - two).abs().mean(1) >= VISIBLE for one, two in pairs]).all(0)

    def _hints(self, spec: Tensor) -> tuple[Tensor, Tensor]:
        """The pictures and the rules of the hints: int64 (b, hints) twice."""
        first = spec[:, [FIRST]]
        if self.question.name == "hints":
            return torch.cat((first, spec[:, _MORE:]), dim=1), spec[:, [RIGHT]].expand(-1, self.question.hints)
        if self.question.name == "backwards":
            return first, spec[:, [_MORE]]
        if self.question.name == "odd-one-out":
            images = torch.cat((spec[:, [FIRST, SECOND, OTHER]], spec[:, _MORE + 1 :]), dim=1)
            odd = torch.arange(self.question.hints, device=self.device) == spec[:, [_MORE]]
            return images, torch.where(odd, spec[:, [WRONG]], spec[:, [RIGHT]])
        return self._in_order(spec, first, spec[:, _MORE + 1 :: 2]), self._links(spec, spec[:, [RIGHT]])

    def _choices(self, spec: Tensor, kinds: Tensor) -> Tensor:  # (b, 4, channels, h, w)
        pictures = self._plain(torch.where(kinds < 2, spec[:, [SECOND]], spec[:, [OTHER]]))
        if self.question.name != "chain":
            return self._under(pictures, torch.where(kinds % 2 == 0, spec[:, [RIGHT]], spec[:, [WRONG]]))
        right, wrong = self._links(spec, spec[:, [RIGHT]]), self._links(spec, spec[:, [WRONG]])
        for link in range(self.question.hints):
            pictures = self._under(pictures, torch.where(kinds % 2 == 0, right[:, [link]], wrong[:, [link]]))
        return pictures

    def _links(self, spec: Tensor, rule: Tensor) -> Tensor:  # (b, hints)
        """The rules of a chain, with ``rule`` (b, 1) in the place of the plain puzzle's."""
        return self._in_order(spec, rule, spec[:, _MORE + 2 :: 2])

    def _in_order(self, spec: Tensor, own: Tensor, others: Tensor) -> Tensor:
        """``own`` (b, 1) at the place in the chain that the spec gives to the plain puzzle, and the others around it."""
        place, links = spec[:, [_MORE]], torch.arange(self.question.hints, device=self.device)
        return torch.cat((own, others), dim=1).gather(1, torch.where(links == place, 0, 1 + links - (links > place).long()))

    def _under(self, pictures: Tensor, rules: Tensor) -> Tensor:  # (b, n, channels, h, w), (b, n)
        return self.warp(pictures.flatten(0, 1), rules.flatten()).view_as(pictures)

    def _spoilt(self, hints: Tensor, specs: NDArray[np.int32]) -> Tensor:  # (b, n, channels, h, w), the same out
        """Hints with noise, and with a black square over them, each picture its own."""
        if not (self.question.noise or self.question.covered):
            return hints
        size = hints.shape[-1]
        base = random_bits(_SPOILT, *specs[:, :_MORE].T)[:, None]
        picture = np.arange(hints.shape[1])
        pixels = np.arange(size * size)
        flips = random_uniform(base[..., None], picture[:, None], 0, pixels)
        shades = random_uniform(base[..., None], picture[:, None], 1, pixels)
        shape = (*hints.shape[:2], 1, size, size)
        noisy = torch.from_numpy(flips < self.question.noise).view(shape).to(hints.device)
        hints = torch.where(noisy, torch.from_numpy(shades).float().view(shape).to(hints.device), hints)
        side = round(size * self.question.covered**0.5)
        corner = torch.stack([torch.from_numpy(random_below(size - side + 1, base, picture, axis)) for axis in (2, 3)])
        ticks = torch.arange(size)
        down, across = ((ticks >= start[..., None]) & (ticks < start[..., None] + side) for start in corner)  # (b, n, size)
        square = (down[..., :, None] & across[..., None, :])[:, :, None].to(hints.device)
        return hints.masked_fill(square, 0)
