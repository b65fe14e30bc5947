"""Controls: models that do not see enough to solve a puzzle.

`blind` sees the four choices and must stay at 25 %. `object-only` sees x' and the choices, so it
can find the two that show the right object, and must stay at 50 %. If one of them does better, the
puzzles leak their answer.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.encoders import make_encoder


@dataclass(frozen=True)
class ControlConfig:
    """What a control sees, and how large it is."""

    sees_object: bool = False
    """Whether it sees x' beside the choices."""
    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image."""
    hidden: int = 256
    """Width of the network that scores a choice."""


class Control(nn.Module):
    """Scores each choice from its embedding, the mean of all choices, and x' if it may see that."""

    def __init__(self, config: ControlConfig, *, channels: int, size: int):
        super().__init__()
        if config.hidden < 1:
            raise FineError(f"hidden is {config.hidden}: give at least 1")
        self.sees_object = config.sees_object
        d = config.embedding_size
        self.encoder = make_encoder(
            config.encoder, channels=channels, size=size, embedding_size=d, columns=1
        )
        self.score = nn.Sequential(
            nn.Linear(d * (2 + config.sees_object), config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, 1),
        )

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        seen = images[:, 2:] if self.sees_object else images[:, 3:]
        embeddings = self.encoder(seen.flatten(0, 1)).unflatten(0, seen.shape[:2]).flatten(2)
        choices = embeddings[:, 1:] if self.sees_object else embeddings
        context = [choices.mean(dim=1, keepdim=True)]
        if self.sees_object:
            context.append(embeddings[:, :1])
        features = torch.cat((choices, *(part.expand_as(choices) for part in context)), dim=2)
        return self.score(features).squeeze(2)
