"""InLay, the Indirection Layer (Pham et al., 2023), in front of a Transformer.

The images of a puzzle are a complete graph, and its edges say how they are related. InLay keeps the
edges and replaces the vertices by trained ones, the same for every puzzle. What these send each
other along the edges takes the place of the images.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.models.comparison.attention import check_heads, in_heads, side_by_side
from fine.models.comparison.sequence import IMAGES
from fine.models.comparison.transformer import Transformer, TransformerConfig
from fine.models.initialisation import xavier


@dataclass(frozen=True)
class InLayConfig(TransformerConfig):
    """Sizes of an InLay and of the Transformer behind it, which are those of `transformer`."""

    graphs: int = 8
    """Graphs over the same images, each with its own edges and its share of the features."""


class IndirectionLayer(nn.Module):
    """X' = A V: trained vertices V under the edges a_ij = softmax_j(W_q x_i · W_k x_j / √d)."""

    def __init__(self, features: int, *, graphs: int):
        super().__init__()
        self.graphs = graphs
        self.queries = xavier(nn.Linear(features, features, bias=False))
        self.keys = xavier(nn.Linear(features, features, bias=False))
        self.vertices = nn.Parameter(torch.randn(IMAGES, features))

    def forward(self, images: Tensor) -> Tensor:  # (b, n, d), the same out
        query = in_heads(self.queries(images), self.graphs)  # (b, graphs, n, d / graphs)
        key = in_heads(self.keys(images), self.graphs)
        edges = (query @ key.mT / math.sqrt(query.shape[3])).softmax(3)
        return side_by_side(edges @ in_heads(self.vertices[None], self.graphs))


class InLay(Transformer):
    """Logits = Transformer(A V)."""

    def __init__(self, config: InLayConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        check_heads(config.embedding_size, config.graphs)
        self.indirection = IndirectionLayer(config.embedding_size, graphs=config.graphs)

    def answer(self, embeddings: Tensor) -> Tensor:
        return super().answer(self.indirection(embeddings))
