"""Two limits to measure a learned model against; neither learns anything.

The **oracle** is told every rule there is and needs only see which one it was: no model can be expected to do better.
**Pixels** is FINE without an encoder and without a memory: the query y x⁺, the least-squares map from the pixels of x to those
of y, applied to the pixels of x'. A model that does worse has explained nothing.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from fine.models.memory import pseudo_inverse
from fine.rules import RuleSet, Warp
from fine.strings.oracle import StringOracle
from fine.strings.rules import StringRules


class Oracle(nn.Module):
    """Finds the rule that best takes x to y, pixel by pixel, applies it to x', and takes the choice nearest to that."""

    def __init__(self, rules: RuleSet, *, size: int):
        super().__init__()
        self.rules, self.size = rules, size
        self.warp = Warp(rules, size=size)

    def forward(self, pictures: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        x, y, new, choices = pictures[:, 0], pictures[:, 1], pictures[:, 2], pictures[:, 3:]
        return -(choices - self.function([x], [y])(new)[:, None]).square().sum((2, 3, 4))

    def function(self, x: Sequence[Tensor], y: Sequence[Tensor]) -> Callable[[Tensor], Tensor]:
        """The rules that best take each x (b, channels, size, size) to its y, as one function of b pictures."""
        if self.warp.grids.device != x[0].device:
            self.warp = Warp(self.rules, size=self.size, device=x[0].device)
        everywhere = torch.ones(len(x[0]), dtype=torch.long, device=x[0].device)

        def missed(number: int) -> Tensor:  # (b,)
            hints = zip(x, y, strict=True)
            return torch.stack([(self.warp(a, number * everywhere) - b).square().sum((1, 2, 3)) for a, b in hints]).sum(0)

        found = torch.stack([missed(number) for number in range(len(self.rules))]).argmin(dim=0)
        return lambda pictures: self.warp(pictures, found)


class Pixels(nn.Module):
    """Fits a linear map from the pixels of x to those of y, the columns being colours, and applies it to x'."""

    def __init__(self, *, ridge: float = 0.1):
        super().__init__()
        self.ridge = ridge

    def forward(self, pictures: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        codes = pictures.flatten(3).mT  # (b, 3 + k, pixels, channels)
        x, y, new, choices = codes[:, 0], codes[:, 1], codes[:, 2], codes[:, 3:]
        guess = y @ (pseudo_inverse(x, ridge=self.ridge) @ new)  # from the right: the map itself has a million entries
        return -(choices - guess[:, None]).square().sum((2, 3))


LIMITS: dict[str, Callable[[RuleSet, int], nn.Module]] = {
    "oracle": lambda rules, size: StringOracle(rules) if isinstance(rules, StringRules) else Oracle(rules, size=size),
    "pixels": lambda rules, size: Pixels(),
}
"""(rules of the test, size of the pictures) -> what to measure against, by name."""
