"""Limits to measure a learned model against; they learn nothing.

    evaluate(Oracle(rule_set("affine"), size=32), puzzles)          # or LIMITS["oracle"](rules, 32)

The **oracle** knows all rules and only has to see which one it was: no model can be expected to do
better. **LeastSquaresPixels** is FINE without an encoder and without a memory: the query y x⁺, the
least-squares map from the pixels of x to those of y, applied to the pixels of x'. A model that does
worse has learned nothing.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from fine.images.letters import texts_of
from fine.models.paper import pseudo_inverse
from fine.rules import RuleSet, Warp
from fine.rules.strings import StringRules


class Oracle(nn.Module):
    """Finds the rule that best takes x to y, pixel by pixel; the choice nearest to its x' wins."""

    def __init__(self, rules: RuleSet, *, size: int):
        super().__init__()
        self.rules, self.size = rules, size
        self.warp = Warp(rules, size=size)

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        x, y, new, choices = images[:, 0], images[:, 1], images[:, 2], images[:, 3:]
        guess = self.function([x], [y])(new)
        return -(choices - guess[:, None]).square().sum((2, 3, 4))

    def function(self, x: Sequence[Tensor], y: Sequence[Tensor]) -> Callable[[Tensor], Tensor]:
        """The rules that best take each x to its y, as one function of b images.

        Every x and y is (b, channels, size, size): one hint for each of b puzzles.
        """
        device = x[0].device
        if self.warp.grids.device != device:
            self.warp = Warp(self.rules, size=self.size, device=device)

        def errors(rule: int) -> Tensor:  # (b,): how far the rule is from taking each x to its y
            rules = torch.full((len(x[0]),), rule, device=device)
            hints = zip(x, y, strict=True)
            parts = [(self.warp(a, rules) - b).square().sum((1, 2, 3)) for a, b in hints]
            return torch.stack(parts).sum(0)

        found = torch.stack([errors(rule) for rule in range(len(self.rules))]).argmin(dim=0)
        return lambda images: self.warp(images, found)


class LeastSquaresPixels(nn.Module):
    """Fits a linear map from the pixels of x to those of y, per colour; applies it to x'."""

    def __init__(self, *, ridge: float = 0.1):
        super().__init__()
        self.ridge = ridge

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        pixels = images.flatten(3).mT  # (b, 3 + k, pixels, channels)
        x, y, new, choices = pixels[:, 0], pixels[:, 1], pixels[:, 2], pixels[:, 3:]
        # From the right: the map itself has a million numbers.
        guess = y @ (pseudo_inverse(x, ridge=self.ridge) @ new)
        return -(choices - guess[:, None]).square().sum((2, 3))


class StringOracle(nn.Module):
    """Takes the first choice that some rule makes of x', among the rules that make y of x."""

    def __init__(self, rules: StringRules):
        super().__init__()
        self.rules = rules

    def forward(self, grids: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, 1, size, size) -> logits (b, k).

        They are 0, or −1 for a choice that no such rule makes.
        """
        logits = []
        for x, y, new, *choices in texts_of(grids):
            numbers = range(len(self.rules))
            explaining = [number for number in numbers if self.rules.apply(number, x) == y]
            answers = {self.rules.apply(number, new) for number in explaining}
            logits.append([0.0 if choice in answers else -1.0 for choice in choices])
        return torch.tensor(logits, device=grids.device)


def _make_oracle(rules: RuleSet, size: int) -> nn.Module:
    return StringOracle(rules) if isinstance(rules, StringRules) else Oracle(rules, size=size)


LIMITS: dict[str, Callable[[RuleSet, int], nn.Module]] = {
    "oracle": _make_oracle,
    "pixels": lambda rules, size: LeastSquaresPixels(),
}
"""(rules of the test, size of the images) -> a limit, by name."""
