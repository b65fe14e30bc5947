"""Controls that keep everyone honest: models that are not shown enough to solve a puzzle.

``blind`` sees the four choices and must stay at 25 %. ``object-only`` sees x' and the choices, so it can find the two that show
the right object, and must stay at 50 %. If one of them does better, the puzzles leak their answer.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.encoders import make_encoder


@dataclass(frozen=True)
class ControlConfig:
    """What a control may look at, and how large it is."""

    sees_object: bool = False
    """Whether it is shown x' beside the choices."""
    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    code: int = 128
    """Numbers in the code of a picture."""
    hidden: int = 256
    """Width of the network that scores a choice."""


class Control(nn.Module):
    """Scores each choice from its own code, the mean code of all choices, and the code of x' if it may see that."""

    def __init__(self, config: ControlConfig, *, channels: int, size: int):
        super().__init__()
        if config.hidden < 1:
            raise FineError(f"hidden is {config.hidden}: give at least 1")
        self.sees_object = config.sees_object
        self.encoder = make_encoder(config.encoder, channels=channels, size=size, code=config.code, columns=1)
        self.score = nn.Sequential(
            nn.Linear(config.code * (2 + config.sees_object), config.hidden), nn.ReLU(), nn.Linear(config.hidden, 1)
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        shown = pictures[:, 2:] if self.sees_object else pictures[:, 3:]
        codes = self.encoder(shown.flatten(0, 1)).unflatten(0, shown.shape[:2]).flatten(2)
        choices = codes[:, 1:] if self.sees_object else codes
        context = [choices.mean(dim=1, keepdim=True), *([codes[:, :1]] if self.sees_object else [])]
        return self.score(torch.cat((choices, *(part.expand_as(choices) for part in context)), dim=2)).squeeze(2)
