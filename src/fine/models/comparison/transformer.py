"""Transformer (Vaswani et al., 2017): one layer of self-attention over the images of a puzzle."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.comparison.attention import answer_head, feed_forward
from fine.models.comparison.sequence import IMAGES, SequenceModel
from fine.models.initialisation import xavier


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of a Transformer; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image, and the width of the Transformer."""
    heads: int = 8
    """Heads of the attention."""
    feed_forward: int = 512
    """Width of the feed-forward layer."""
    hidden: int = 256
    """Width of the layer before the logits."""


class Attention(nn.Module):
    """Self-attention with several heads: softmax(Q Kᵀ / √d) V in each, side by side."""

    def __init__(self, features: int, heads: int):
        super().__init__()
        self.heads = heads
        # Queries, keys and values in one product, and started as one matrix.
        self.project = xavier(nn.Linear(features, 3 * features))
        self.combine = xavier(nn.Linear(features, features))

    def forward(self, items: Tensor) -> Tensor:  # (b, n, d), the same out
        projected = self.project(items).unflatten(2, (3, self.heads, -1))
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # (b, heads, n, d / heads) each
        attended = F.scaled_dot_product_attention(query, key, value)
        return self.combine(attended.transpose(1, 2).flatten(2))


class Transformer(SequenceModel):
    """Logits = MLP(mean(LN(layer(Z + positions)))).

    The layer is LN(· + feed-forward(·)) after LN(· + attention(·)).
    """

    positions: Tensor  # (7, d)

    def __init__(self, config: TransformerConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        d = config.embedding_size
        if d % config.heads or d % 2:
            raise FineError(
                f"an embedding of {d} numbers does not fit {config.heads} heads: use an even "
                "embedding_size that heads divide"
            )
        self.attention, self.attention_norm = Attention(d, config.heads), nn.LayerNorm(d)
        self.feed_forward = feed_forward(d, config.feed_forward)
        self.feed_forward_norm, self.last_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.head = answer_head(d, config.hidden)
        self.register_buffer("positions", sinusoids(IMAGES, d), persistent=False)

    def answer(self, embeddings: Tensor) -> Tensor:
        items = embeddings + self.positions
        items = self.attention_norm(items + self.attention(items))
        items = self.feed_forward_norm(items + self.feed_forward(items))
        return self.head(self.last_norm(items).mean(1))


def sinusoids(count: int, features: int) -> Tensor:  # (count, features)
    """Positions as waves: sine and cosine of p / 10000^(2k / d) at features 2k and 2k + 1."""
    frequencies = 10_000 ** (torch.arange(0, features, 2) / features)
    angles = torch.arange(count)[:, None] / frequencies
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)
