"""PrediNet (Shanahan et al., 2020): heads that each pick two images and compare them.

All heads compare by the same few relations.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.models.comparison.sequence import CHOICES, IMAGES, SequenceModel, with_positions
from fine.models.initialisation import kaiming, xavier


@dataclass(frozen=True)
class PrediNetConfig:
    """Sizes of a PrediNet; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image."""
    heads: int = 32
    """Pairs of images to compare."""
    key: int = 16
    """Size of a key, by which a head finds its images."""
    relations: int = 16
    """Relations by which a pair is compared, the same for all heads."""
    hidden: int = 8
    """Width of the layer before the logits."""


class PrediNet(SequenceModel):
    """Each head h picks e_k = softmax(q_hk·K) Z for k = 1, 2.

    It reports (e_1 − e_2) W_s for every relation s, and the positions of e_1 and e_2.
    """

    def __init__(self, config: PrediNetConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        item = config.embedding_size + 1
        self.heads = config.heads
        self.key = xavier(nn.Linear(item, config.key, bias=False))
        queries = config.heads * config.key
        self.queries = nn.ModuleList(
            xavier(nn.Linear(IMAGES * item, queries, bias=False)) for _ in range(2)
        )
        self.relation = xavier(nn.Linear(item, config.relations, bias=False))
        self.head = nn.Sequential(
            kaiming(nn.Linear(config.heads * (config.relations + 2), config.hidden)),
            nn.ReLU(),
            xavier(nn.Linear(config.hidden, CHOICES)),
        )

    def answer(self, embeddings: Tensor) -> Tensor:
        items = with_positions(embeddings)  # (b, n, d)
        queries = torch.stack([query(items.flatten(1)) for query in self.queries], dim=1)
        queries = queries.view(len(items), 2 * self.heads, -1)  # (b, 2 × heads, key)
        attention = (queries @ self.key(items).mT).softmax(2)  # (b, 2 × heads, n)
        one, two = (attention @ items).chunk(2, dim=1)  # (b, heads, d) each
        compared = torch.cat((self.relation(one - two), one[:, :, -1:], two[:, :, -1:]), dim=2)
        return self.head(compared.flatten(1))
