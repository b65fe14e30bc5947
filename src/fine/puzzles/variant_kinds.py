"""What each variant adds to the six integers of a puzzle and what it shows: a class per variant."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.puzzles.family_first import FamilyFirst
from fine.puzzles.rendering import Renderer
from fine.puzzles.spec import FIRST, KINDS, ORDER, ORDERS, OTHER, RIGHT, SECOND, WRONG
from fine.randomness import random_below

MORE = ORDER + 1
"""The first further column of a spec."""
_RULES = 100  # address of the first further rule; further images have the addresses before it

Integers = NDArray[np.int64]
Specs = NDArray[np.int32]


class Hints:
    """One rule is shown on several images; the choices are those of the plain puzzle."""

    name = "hints"
    address = 0  # of random numbers: no two variants share any
    default, least, most = 1, 1, 50
    """Number of hints: by default, at least, and at most."""
    asks = "x′ becomes …"
    """The label of the image that is asked about; empty if there is none."""

    def __init__(self, hints: int):
        self.hints = hints

    def __str__(self) -> str:
        return "1 hint" if self.hints == 1 else f"{self.hints} hints"

    # Further integers

    @property
    def columns(self) -> int:
        """How many integers a spec has beyond the six of the plain puzzle."""
        return self.hints - 1

    def draw(self, base: NDArray[np.uint64], pool: Integers, rules: FamilyFirst) -> Integers:
        """The further integers (n, columns) of puzzles, from the random bits of each."""
        images = self._images(base, pool)
        return np.stack(images, axis=1) if images else np.empty((len(base), 0), dtype=np.int64)

    def _images(self, base: NDArray[np.uint64], pool: Integers) -> list[Integers]:
        return [pool[random_below(len(pool), base, hint)] for hint in range(1, self.hints)]

    def is_sound(self, specs: Specs, labels: Integers) -> NDArray[np.bool_]:
        """Whether further hints are of other classes than x' and are not x'': bool (n,)."""
        images = self._further_images(specs)
        other_class = labels[images] != labels[specs[:, [SECOND]]]
        return (other_class & (images != specs[:, [OTHER]])).all(axis=1)

    def _further_images(self, specs: Specs) -> Specs:
        return specs[:, MORE:]

    # What follows from a spec

    def hidden(self, specs: Specs) -> Specs:
        """(n,): the rule that makes y from x."""
        return specs[:, RIGHT]

    def kinds(self, specs: Specs) -> Integers:
        """(n, k): the kind of the choice at each place."""
        return ORDERS[specs[:, ORDER]]

    # Images

    def shown(self, spec: Tensor) -> tuple[Tensor, Tensor]:
        """The images and the rules of the hints: int64 (b, hints) twice."""
        images = torch.cat((spec[:, [FIRST]], spec[:, MORE:]), dim=1)
        return images, spec[:, [RIGHT]].expand(-1, self.hints)

    def choices(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor:
        """The four choices (b, 4, channels, h, w)."""
        images = self._objects(render, spec, kinds)
        return render.under(images, torch.where(kinds % 2 == 0, spec[:, [RIGHT]], spec[:, [WRONG]]))

    def _objects(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor:
        return render.plain(torch.where(kinds < 2, spec[:, [SECOND]], spec[:, [OTHER]]))

    def asked(self, render: Renderer, spec: Tensor, right: Tensor) -> Tensor:
        """The images asked about (b, 1, channels, h, w); ``right`` (b, 1, …) are the answers."""
        return render.plain(spec[:, [SECOND]])

    def compared(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor | None:
        """Images (b, n, …) that must look different; None if those of the plain puzzle do."""
        return None

    def describe(self, rules: tuple[str, str, str]) -> str:
        """The rules of a puzzle in words, from the names of the hidden, right and wrong rule."""
        return rules[0]


class Backwards(Hints):
    """x → h(x) is shown, then y' = h(answer): which of the choices f(x'), g(x') … became y'?"""

    name = "backwards"
    address = 1
    default, least, most = 1, 1, 1
    asks = "y′ was …"

    def __str__(self) -> str:
        return "backwards"

    @property
    def columns(self) -> int:
        return 1  # the rule h

    def draw(self, base: NDArray[np.uint64], pool: Integers, rules: FamilyFirst) -> Integers:
        return rules.draw((base, _RULES), (base, _RULES + 1))[:, None]

    def _further_images(self, specs: Specs) -> Specs:
        return specs[:, :0]

    def hidden(self, specs: Specs) -> Specs:
        return specs[:, MORE]

    def shown(self, spec: Tensor) -> tuple[Tensor, Tensor]:
        return spec[:, [FIRST]], spec[:, [MORE]]

    def asked(self, render: Renderer, spec: Tensor, right: Tensor) -> Tensor:
        return render.under(right, spec[:, [MORE]])

    def compared(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor:
        choices = self.choices(render, spec, kinds)
        return render.under(choices, spec[:, [MORE]].expand(-1, len(KINDS)))


class Chain(Hints):
    """Each hint shows another rule; the answer is x' under all of them, in order.

    Under the wrong rule, one rule of the chain is replaced.
    """

    name = "chain"
    address = 2
    default, least, most = 2, 2, 10

    def __str__(self) -> str:
        return f"a chain of {self.hints}"

    @property
    def columns(self) -> int:
        return 1 + 2 * (self.hints - 1)

    def draw(self, base: NDArray[np.uint64], pool: Integers, rules: FamilyFirst) -> Integers:
        """The place of the plain puzzle's rule in the chain, then image and rule of the others."""
        links: list[Integers] = []
        for hint, image in enumerate(self._images(base, pool)):
            stream = _RULES + 2 * hint
            links += [image, rules.draw((base, stream), (base, stream + 1))]
        return np.stack((random_below(self.hints, base, 0), *links), axis=1)

    def _further_images(self, specs: Specs) -> Specs:
        return specs[:, MORE + 1 :: 2]

    def shown(self, spec: Tensor) -> tuple[Tensor, Tensor]:
        images = self._in_order(spec, spec[:, [FIRST]], spec[:, MORE + 1 :: 2])
        return images, self._links(spec, RIGHT)

    def choices(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor:
        images = self._objects(render, spec, kinds)
        right, wrong = self._links(spec, RIGHT), self._links(spec, WRONG)
        for link in range(self.hints):
            rules = torch.where(kinds % 2 == 0, right[:, [link]], wrong[:, [link]])
            images = render.under(images, rules)
        return images

    def compared(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor:
        return self.choices(render, spec, kinds)

    def _links(self, spec: Tensor, rule: int) -> Tensor:  # (b, hints)
        """The rules of the chain, with the plain puzzle's right or wrong rule at its place."""
        return self._in_order(spec, spec[:, [rule]], spec[:, MORE + 2 :: 2])

    def _in_order(self, spec: Tensor, own: Tensor, others: Tensor) -> Tensor:
        """``own`` (b, 1) at the place that the spec gives, among the others (b, hints − 1)."""
        place, links = spec[:, [MORE]], torch.arange(self.hints, device=spec.device)
        position = torch.where(links == place, 0, 1 + links - (links > place).long())
        return torch.cat((own, others), dim=1).gather(1, position)

    def describe(self, rules: tuple[str, str, str]) -> str:
        return f"{rules[0]} and others"


class OddOneOut(Hints):
    """Several pairs are shown, all under one rule except the one to be found."""

    name = "odd-one-out"
    address = 4
    default, least, most = 4, 3, 10
    asks = ""

    def __str__(self) -> str:
        return f"the odd one out of {self.hints}"

    @property
    def columns(self) -> int:
        return self.hints - 2

    def draw(self, base: NDArray[np.uint64], pool: Integers, rules: FamilyFirst) -> Integers:
        """The odd place, then the images beyond the three of the plain puzzle."""
        odd = random_below(self.hints, base, 0)
        return np.stack((odd, *self._images(base, pool)[2:]), axis=1)

    def is_sound(self, specs: Specs, labels: Integers) -> NDArray[np.bool_]:
        """Whether no image is shown twice."""
        plain = specs[:, [FIRST, SECOND, OTHER]]
        ordered = np.sort(np.concatenate((plain, specs[:, MORE + 1 :]), axis=1), axis=1)
        sound: NDArray[np.bool_] = np.all(ordered[:, 1:] > ordered[:, :-1], axis=1)
        return sound

    def kinds(self, specs: Specs) -> Integers:
        """(n, hints): right is the pair under the other rule."""
        return (np.arange(self.hints) != specs[:, [MORE]]).astype(np.int64)

    def shown(self, spec: Tensor) -> tuple[Tensor, Tensor]:
        images = torch.cat((spec[:, [FIRST, SECOND, OTHER]], spec[:, MORE + 1 :]), dim=1)
        odd = torch.arange(self.hints, device=spec.device) == spec[:, [MORE]]
        return images, torch.where(odd, spec[:, [WRONG]], spec[:, [RIGHT]])

    def compared(self, render: Renderer, spec: Tensor, kinds: Tensor) -> Tensor:
        """The odd image under the rule it follows, and under the rule of the others."""
        odd = render.plain(self.shown(spec)[0].gather(1, spec[:, [MORE]]))
        return render.under(odd.expand(-1, 2, -1, -1, -1), spec[:, [RIGHT, WRONG]])

    def describe(self, rules: tuple[str, str, str]) -> str:
        return f"{rules[1]}, except one: {rules[2]}"


VARIANTS: dict[str, type[Hints]] = {
    kind.name: kind for kind in (Hints, Backwards, Chain, OddOneOut)
}
"""Every variant by name."""
