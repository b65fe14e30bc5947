"""RelationNet (Santoro et al., 2017): the sum of one network over all pairs of images."""

from dataclasses import dataclass

from torch import Tensor, nn

from fine.models.comparison.sequence import CHOICES, SequenceModel, with_positions
from fine.models.initialisation import kaiming, xavier


@dataclass(frozen=True)
class RelationNetConfig:
    """Sizes of a RelationNet; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image."""
    hidden: int = 512
    """Width of the first layer that sees a pair."""
    relation: int = 256
    """Size of a relation vector."""


class RelationNet(SequenceModel):
    """Logits = f(Σ_ij g(z_i, z_j)), over all 49 ordered pairs."""

    def __init__(self, config: RelationNetConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        item = config.embedding_size + 1
        self.pair = kaiming(nn.Linear(2 * item, config.hidden))
        self.relation = nn.Sequential(
            nn.ReLU(),
            kaiming(nn.Linear(config.hidden, config.relation)),
            nn.ReLU(),
        )
        self.head = nn.Sequential(
            kaiming(nn.Linear(config.relation, config.relation)),
            nn.ReLU(),
            xavier(nn.Linear(config.relation, CHOICES)),
        )

    def answer(self, embeddings: Tensor) -> Tensor:
        items = with_positions(embeddings)  # (b, n, d)
        # A linear layer on a pair is a layer on its first item plus one on its second: 14 products
        # instead of 49.
        first, second = self.pair.weight.chunk(2, dim=1)
        firsts, seconds = items @ first.T, items @ second.T + self.pair.bias  # (b, n, hidden)
        pairs = firsts[:, :, None] + seconds[:, None]  # (b, n, n, hidden)
        return self.head(self.relation(pairs).sum((1, 2)))
