"""Abstractor (Altabaa et al., 2024): relations between images, carried by symbols.

Relational cross-attention takes queries and keys from the images, and values from symbols that are
the same for every puzzle. So what comes out tells which images are related, and not what they show.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.errors import unknown
from fine.models.comparison.attention import (
    answer_head,
    check_heads,
    check_layers,
    feed_forward,
    in_heads,
    side_by_side,
)
from fine.models.comparison.sequence import IMAGES, SequenceModel
from fine.models.initialisation import xavier

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda relations: relations.softmax(3),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}
"""What may be done to the relations of an image before symbols are weighted by them."""


@dataclass(frozen=True)
class AbstractorConfig:
    """Sizes of an Abstractor."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image, and in a symbol."""
    layers: int = 2
    """Layers of relational cross-attention."""
    heads: int = 8
    """Relations in each layer."""
    activation: str = "softmax"
    """softmax, sigmoid or tanh."""
    feed_forward: int = 256
    """Width of the feed-forward layers."""
    hidden: int = 256
    """Width of the layer before the logits."""


class RelationalCrossAttention(nn.Module):
    """RCA(X, S) = activation(X W_q (X W_k)ᵀ / √d) S W_v in each head, side by side."""

    def __init__(self, features: int, *, heads: int, activation: str):
        super().__init__()
        self.heads, self.activation = heads, ACTIVATIONS[activation]
        self.queries = xavier(nn.Linear(features, features, bias=False))
        self.keys = xavier(nn.Linear(features, features, bias=False))
        self.values = xavier(nn.Linear(features, features, bias=False))
        self.combine = xavier(nn.Linear(features, features))

    def forward(self, images: Tensor, symbols: Tensor) -> Tensor:  # (b, n, d) each, the same out
        query = in_heads(self.queries(images), self.heads)  # (b, heads, n, d / heads)
        key = in_heads(self.keys(images), self.heads)
        relations = self.activation(query @ key.mT / math.sqrt(query.shape[3]))
        return self.combine(side_by_side(relations @ in_heads(self.values(symbols), self.heads)))


class AbstractorLayer(nn.Module):
    """A' = LN(A + RCA(X, A)), then LN(A' + feed-forward(A'))."""

    def __init__(self, features: int, *, heads: int, activation: str, hidden: int):
        super().__init__()
        self.attention = RelationalCrossAttention(features, heads=heads, activation=activation)
        self.attention_norm = nn.LayerNorm(features)
        self.feed_forward = feed_forward(features, hidden)
        self.feed_forward_norm = nn.LayerNorm(features)

    def forward(self, images: Tensor, symbols: Tensor) -> Tensor:  # (b, n, d) each, the same out
        symbols = self.attention_norm(symbols + self.attention(images, symbols))
        return self.feed_forward_norm(symbols + self.feed_forward(symbols))


class Abstractor(SequenceModel):
    """Logits = MLP(mean(A_L)), where A_0 are learned symbols, one for each place of a puzzle."""

    def __init__(self, config: AbstractorConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        d = config.embedding_size
        check_heads(d, config.heads)
        check_layers(config.layers)
        if config.activation not in ACTIVATIONS:
            raise unknown("activation", config.activation, ACTIVATIONS)
        self.symbols = nn.Parameter(torch.randn(IMAGES, d))
        self.layers = nn.ModuleList(
            AbstractorLayer(
                d, heads=config.heads, activation=config.activation, hidden=config.feed_forward
            )
            for _ in range(config.layers)
        )
        self.head = answer_head(d, config.hidden)

    def answer(self, embeddings: Tensor) -> Tensor:
        symbols = self.symbols.expand(len(embeddings), -1, -1)
        for layer in self.layers:
            symbols = layer(embeddings, symbols)
        return self.head(symbols.mean(1))
