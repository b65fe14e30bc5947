"""The dual-attention Transformer (Altabaa and Lafferty, 2025): heads of two kinds.

Sensory heads are those of any Transformer: they bring what another image shows. Relational heads
bring how another image is related to this one, and a symbol that says which image it is.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
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


@dataclass(frozen=True)
class DualAttentionConfig:
    """Sizes of a dual-attention Transformer."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image, and in a symbol."""
    layers: int = 2
    """Layers of attention."""
    heads: int = 8
    """Heads of a layer: the first half is sensory, the others are relational."""
    relations: int = 16
    """Relations by which a layer compares two images."""
    key: int = 8
    """Size of the vectors that a relation compares."""
    feed_forward: int = 256
    """Width of the feed-forward layers."""
    hidden: int = 256
    """Width of the layer before the logits."""


class DualAttention(nn.Module):
    """Sensory heads Σ_j α_ij W_v x_j beside relational heads Σ_j α_ij (W_r r_ij + W_s s_j).

    All heads have an attention α of their own; r_ij = (W_l x_i · W_l' x_j)_l is shared by them.
    """

    def __init__(self, features: int, *, heads: int, relations: int, key: int):
        super().__init__()
        self.heads, self.sensory, self.relations = heads, heads // 2, relations
        each = features // heads
        own, other = self.sensory * each, (heads - self.sensory) * each
        self.queries = xavier(nn.Linear(features, features, bias=False))
        self.keys = xavier(nn.Linear(features, features, bias=False))
        self.values = xavier(nn.Linear(features, own, bias=False))
        self.relation_queries = xavier(nn.Linear(features, relations * key, bias=False))
        self.relation_keys = xavier(nn.Linear(features, relations * key, bias=False))
        self.from_relations = xavier(nn.Linear(relations, other, bias=False))
        self.from_symbols = xavier(nn.Linear(features, other, bias=False))
        self.combine = xavier(nn.Linear(features, features))

    def forward(self, items: Tensor, symbols: Tensor) -> Tensor:  # (b, n, d), (n, d) -> (b, n, d)
        query = in_heads(self.queries(items), self.heads)  # (b, heads, n, d / heads)
        key = in_heads(self.keys(items), self.heads)
        values = in_heads(self.values(items), self.sensory)
        sensed = F.scaled_dot_product_attention(
            query[:, : self.sensory], key[:, : self.sensory], values
        )
        attention = query[:, self.sensory :] @ key[:, self.sensory :].mT
        attention = (attention / math.sqrt(query.shape[3])).softmax(3)  # (b, heads, i, j)
        relations = self.compare(items)  # (b, i, j, relations)
        related = torch.einsum("bhij,bijr->bhir", attention, relations)
        # A linear layer after the sum over images is one product instead of seven.
        carried = torch.einsum(
            "bhir,her->bhie", related, in_rows(self.from_relations, len(attention[0]))
        )
        named = attention @ in_heads(self.from_symbols(symbols)[None], len(attention[0]))
        return self.combine(torch.cat((side_by_side(sensed), side_by_side(carried + named)), dim=2))

    def compare(self, items: Tensor) -> Tensor:  # (b, n, d) -> (b, n, n, relations)
        """All relations between all images."""
        query = in_heads(self.relation_queries(items), self.relations)
        key = in_heads(self.relation_keys(items), self.relations)
        return (query @ key.mT / math.sqrt(query.shape[3])).permute(0, 2, 3, 1)


def in_rows(layer: nn.Linear, heads: int) -> Tensor:  # weights (heads × e, r) -> (heads, e, r)
    """The share that each head has of a layer."""
    return layer.weight.unflatten(0, (heads, -1))


class DualAttentionLayer(nn.Module):
    """X' = LN(X + dual-attention(X, S)), then LN(X' + feed-forward(X'))."""

    def __init__(self, config: DualAttentionConfig):
        super().__init__()
        d = config.embedding_size
        self.attention = DualAttention(
            d, heads=config.heads, relations=config.relations, key=config.key
        )
        self.attention_norm = nn.LayerNorm(d)
        self.feed_forward = feed_forward(d, config.feed_forward)
        self.feed_forward_norm = nn.LayerNorm(d)

    def forward(self, items: Tensor, symbols: Tensor) -> Tensor:  # (b, n, d), (n, d) -> (b, n, d)
        items = self.attention_norm(items + self.attention(items, symbols))
        return self.feed_forward_norm(items + self.feed_forward(items))


class DualAttentionTransformer(SequenceModel):
    """Logits = MLP(mean(X_L)), with learned positions and symbols for the places of a puzzle."""

    def __init__(self, config: DualAttentionConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        d = config.embedding_size
        check_heads(d, config.heads)
        check_layers(config.layers)
        if config.heads < 2:
            raise FineError("heads is 1: give at least 2, one sensory and one relational")
        self.positions = nn.Parameter(torch.randn(IMAGES, d))
        self.symbols = nn.Parameter(torch.randn(IMAGES, d))
        self.layers = nn.ModuleList(DualAttentionLayer(config) for _ in range(config.layers))
        self.head = answer_head(d, config.hidden)

    def answer(self, embeddings: Tensor) -> Tensor:
        items = embeddings + self.positions
        for layer in self.layers:
            items = layer(items, self.symbols)
        return self.head(items.mean(1))
