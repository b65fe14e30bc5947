"""A small Vision Transformer (Dosovitskiy et al., 2021) that sees the seven images as one context.

Every patch of every image attends to all others, so it may compare anything with anything. There is
no encoder, no memory and no function: it is the generic architecture to compare with.
"""

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.comparison.attention import check_heads, check_layers
from fine.models.comparison.transformer import Attention
from fine.models.initialisation import xavier

GIVEN = 3
"""Images before the choices: x, y and x'."""


@dataclass(frozen=True)
class ViTConfig:
    """Sizes of a Vision Transformer."""

    grid: int = 4
    """Patches along each side of an image."""
    embedding_size: int = 96
    """Size of the embedding of a patch."""
    layers: int = 4
    """Layers of attention."""
    heads: int = 4
    """Heads of the attention."""
    feed_forward: int = 192
    """Width of the feed-forward layers."""


class ViTLayer(nn.Module):
    """X' = X + attention(LN(X)), then X' + feed-forward(LN(X'))."""

    def __init__(self, config: ViTConfig):
        super().__init__()
        d = config.embedding_size
        self.attention_norm, self.attention = nn.LayerNorm(d), Attention(d, config.heads)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(d),
            xavier(nn.Linear(d, config.feed_forward)),
            nn.GELU(),
            xavier(nn.Linear(config.feed_forward, d)),
        )

    def forward(self, patches: Tensor) -> Tensor:  # (b, n, d), the same out
        patches = patches + self.attention(self.attention_norm(patches))
        return patches + self.feed_forward(patches)


class ViT(nn.Module):
    """The logit of a choice is a linear function of the mean over its patches.

    A patch is embedded together with its place in the image and the role of the image: x, y, x' or
    a choice. All choices have the same role, so their order does not matter.
    """

    def __init__(self, config: ViTConfig, *, channels: int, size: int):
        super().__init__()
        for name, value in asdict(config).items():
            if value < 1:
                raise FineError(f"{name} is {value}: give at least 1")
        d = config.embedding_size
        check_heads(d, config.heads)
        check_layers(config.layers)
        if size % config.grid:
            raise FineError(
                f"an image of {size}×{size} cannot be cut into {config.grid}×{config.grid} "
                "patches: use a grid that divides its size"
            )
        patch = size // config.grid
        self.embed = xavier(nn.Conv2d(channels, d, patch, stride=patch))
        self.places = nn.Parameter(0.02 * torch.randn(config.grid**2, d))
        self.roles = nn.Parameter(0.02 * torch.randn(GIVEN + 1, d))
        self.layers = nn.Sequential(*(ViTLayer(config) for _ in range(config.layers)))
        self.last_norm = nn.LayerNorm(d)
        self.head = xavier(nn.Linear(d, 1))

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        b, n = images.shape[:2]
        patches = self.embed(images.flatten(0, 1)).flatten(2).mT  # (b × n, patches, d)
        role = torch.arange(n, device=images.device).clamp(max=GIVEN)
        patches = (patches + self.places).unflatten(0, (b, n)) + self.roles[role][:, None]
        context = self.layers(patches.flatten(1, 2))  # (b, n × patches, d)
        choices = self.last_norm(context).unflatten(1, (n, -1))[:, GIVEN:]
        return self.head(choices.mean(2)).squeeze(2)
