"""The limit to measure models of strings against: it is told every rule there is, and learns nothing."""

import torch
from torch import Tensor, nn

from fine.strings.alphabet import texts_of
from fine.strings.rules import StringRules


class StringOracle(nn.Module):
    """Takes a choice that some rule makes of x', if that rule makes y of x; where several do, the first of them."""

    def __init__(self, rules: StringRules):
        super().__init__()
        self.rules = rules

    def forward(self, grids: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, 1, size, size) -> logits (b, k): 0, or −1 for what no such rule makes."""
        logits = []
        for x, y, new, *choices in texts_of(grids):
            fit = [number for number in range(len(self.rules)) if self.rules.apply(number, x) == y]
            made = {self.rules.apply(number, new) for number in fit}
            logits.append([0.0 if choice in made else -1.0 for choice in choices])
        return torch.tensor(logits, device=grids.device)
