"""CoRelNet (Kerg et al., 2022): an MLP that sees how similar images are, and nothing else of them.

Images and relations are kept apart: what the MLP is given would be the same for any other images
that are as similar to each other.
"""

import math
from dataclasses import dataclass

from torch import Tensor, nn

from fine.models.comparison.attention import answer_head
from fine.models.comparison.sequence import IMAGES, SequenceModel
from fine.models.initialisation import kaiming


@dataclass(frozen=True)
class CoRelNetConfig:
    """Sizes of a CoRelNet."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image."""
    hidden: int = 512
    """Width of the two hidden layers."""
    softmax: bool = True
    """Turn each row of similarities into shares of 1, as Kerg et al. do; else divide them by
    √embedding_size and leave them as they are."""


class CoRelNet(SequenceModel):
    """Logits = MLP(softmax(Z Zᵀ)), the 7 × 7 similarities as one vector."""

    def __init__(self, config: CoRelNetConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        self.softmax = config.softmax
        self.first = kaiming(nn.Linear(IMAGES * IMAGES, config.hidden))
        self.head = answer_head(config.hidden, config.hidden)

    def answer(self, embeddings: Tensor) -> Tensor:
        similarity = embeddings @ embeddings.mT  # (b, 7, 7)
        if self.softmax:
            relations = similarity.softmax(2)
        else:
            relations = similarity / math.sqrt(embeddings.shape[2])
        return self.head(self.first(relations.flatten(1)).relu())
