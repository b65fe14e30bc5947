"""Transformer (Vaswani et al., 2017): one layer of self-attention over the seven pictures, then their mean."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.context import CHOICES, PICTURES, SequenceModel
from fine.models.initialisation import kaiming, xavier


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of a Transformer; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    code: int = 128
    """Numbers in the code of a picture, and the width of the Transformer."""
    heads: int = 8
    """Heads of the attention."""
    feed_forward: int = 512
    """Width of the feed-forward layer."""
    hidden: int = 256
    """Width of the layer before the logits."""


class Attention(nn.Module):
    """Self-attention with several heads: softmax(Q Kᵀ / √d) V in each, side by side."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.project = xavier(nn.Linear(width, 3 * width), blocks=3)  # queries, keys and values in one product
        self.combine = xavier(nn.Linear(width, width))

    def forward(self, items: Tensor) -> Tensor:  # (b, n, d), the same out
        query, key, value = self.project(items).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)  # (b, heads, n, d')
        return self.combine(F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class Transformer(SequenceModel):
    """Logits = MLP(mean(LN(layer(Z + positions)))), where the layer is LN(· + feed-forward(·)) after LN(· + attention(·))."""

    positions: Tensor

    def __init__(self, config: TransformerConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        code = config.code
        if code % config.heads or code % 2:
            raise FineError(f"a code of {code} numbers does not fit {config.heads} heads: use an even code that heads divide")
        self.attention, self.attention_norm = Attention(code, config.heads), nn.LayerNorm(code)
        self.feed_forward = nn.Sequential(
            kaiming(nn.Linear(code, config.feed_forward)), nn.ReLU(), kaiming(nn.Linear(config.feed_forward, code))
        )
        self.feed_forward_norm, self.last_norm = nn.LayerNorm(code), nn.LayerNorm(code)
        self.head = nn.Sequential(kaiming(nn.Linear(code, config.hidden)), nn.ReLU(), xavier(nn.Linear(config.hidden, CHOICES)))
        self.register_buffer("positions", sinusoids(PICTURES, code), persistent=False)

    def answer(self, codes: Tensor) -> Tensor:
        items = codes + self.positions
        items = self.attention_norm(items + self.attention(items))
        items = self.feed_forward_norm(items + self.feed_forward(items))
        return self.head(self.last_norm(items).mean(1))


def sinusoids(count: int, width: int) -> Tensor:
    """Positions as waves (count, width): sine and cosine of p / 10000^(2k / width) at features 2k and 2k + 1."""
    angles = torch.arange(count)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)
