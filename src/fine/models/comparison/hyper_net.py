"""HyperNet (Ha et al., 2016): the paper's NICE and keys, with coefficients from an LSTM."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.encoders import make_encoder
from fine.models.initialisation import orthonormal
from fine.models.paper import NICE, WeightedDistance, Weights


@dataclass(frozen=True)
class HyperNetConfig:
    """Sizes of a HyperNet; layers and slots are those of the paper's FINE-NICE."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image."""
    columns: int = 1
    """Columns of an embedding; a composed function acts on each. 1 is the paper's vector."""
    layers: int = 4
    """NICE layers."""
    slots: int = 48
    """Keys in a memory, and the width of the LSTM."""


class KeyMemory(nn.Module):
    """Slots of key matrices, combined by given coefficients."""

    def __init__(self, rows_in: int, rows_out: int, *, slots: int):
        super().__init__()
        keys = orthonormal(slots, rows_out, rows_in)
        self.keys = nn.Parameter(keys * (rows_in * rows_out) ** 0.25)  # as in a functional memory

    def forward(self, coefficients: Tensor) -> Tensor:  # (b, s) -> (b, o, i)
        return (coefficients @ self.keys.flatten(1)).unflatten(1, self.keys.shape[1:])


class HyperBackbone(NICE):
    """NICE, with weights from an LSTM that is unrolled over the layers instead of over time."""

    def __init__(self, *, rows: int, columns: int, layers: int, slots: int):
        super().__init__(
            rows=rows, layers=layers, make_memory=lambda i, o: KeyMemory(i, o, slots=slots)
        )
        self.cell = nn.LSTMCell(2 * self.middle * columns, slots)

    def compose(self, x: Tensor, y: Tensor) -> Weights:
        """W_t = Σ_s h_ts K_s, where h_t = LSTM([x_t, y_t], h_{t−1})."""
        weights: list[Tensor] = []
        state: tuple[Tensor, Tensor] | None = None
        for t in range(self.layers):
            x_t = self.layer_input(t, x)
            y_t = self.pseudo_output(t, x_t, y)
            state = self.cell(torch.cat((x_t, y_t), dim=1).flatten(1), state)
            weights.append(self.memory(t)(state[0]))
            x = self.layer(t, weights[t], x)
        return weights


class HyperNet(nn.Module):
    """Composes a NICE network that takes x to y; the choice nearest to what it makes of x' wins."""

    def __init__(self, config: HyperNetConfig, *, channels: int, size: int):
        super().__init__()
        if config.slots < 1 or config.layers < 1:
            raise FineError(
                f"a HyperNet cannot have {config.layers} layers and {config.slots} slots: give 1 "
                "or more of each"
            )
        self.config = config
        self.encoder = make_encoder(
            config.encoder,
            channels=channels,
            size=size,
            embedding_size=config.embedding_size,
            columns=config.columns,
        )
        rows, columns = self.encoder.rows, self.encoder.columns
        self.backbone = HyperBackbone(
            rows=rows, columns=columns, layers=config.layers, slots=config.slots
        )
        self.distance = WeightedDistance(rows=rows, columns=columns)

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        embeddings = self.encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])
        x, y, new = embeddings[:, :3].unbind(1)
        guess = self.backbone.run(self.backbone.compose(x, y), new)
        return -self.distance(embeddings[:, 3:], guess[:, None])
