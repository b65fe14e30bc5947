"""RelationNet (Santoro et al., 2017): one small network relates every pair of pictures, and the relations are added up."""

from dataclasses import dataclass

from torch import Tensor, nn

from fine.models.context import CHOICES, SequenceModel, with_positions
from fine.models.initialisation import kaiming, xavier


@dataclass(frozen=True)
class RelationNetConfig:
    """Sizes of a RelationNet; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    code: int = 128
    """Numbers in the code of a picture."""
    hidden: int = 512
    """Width of the first layer that sees a pair."""
    relation: int = 256
    """Numbers in a relation."""


class RelationNet(SequenceModel):
    """Logits = f(Σ_ij g(z_i, z_j)), over all 49 ordered pairs."""

    def __init__(self, config: RelationNetConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        self.pair = kaiming(nn.Linear(2 * (config.code + 1), config.hidden))
        self.relation = nn.Sequential(nn.ReLU(), kaiming(nn.Linear(config.hidden, config.relation)), nn.ReLU())
        self.head = nn.Sequential(
            kaiming(nn.Linear(config.relation, config.relation)), nn.ReLU(), xavier(nn.Linear(config.relation, CHOICES))
        )

    def answer(self, codes: Tensor) -> Tensor:
        items = with_positions(codes)
        # A linear layer on a pair is a layer on its first item plus one on its second: 14 products instead of 49.
        first, second = self.pair.weight.chunk(2, dim=1)
        pairs = (items @ first.T)[:, :, None] + (items @ second.T + self.pair.bias)[:, None]  # (b, n, n, hidden)
        return self.head(self.relation(pairs).sum((1, 2)))
