"""HyperNet (Ha et al., 2016): FINE's network and keys, but an LSTM instead of analogies says how the keys are mixed."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.backbones import NICEBackbone
from fine.models.fine import FINE, FINEConfig
from fine.models.memory import spread_out


@dataclass(frozen=True)
class HyperNetConfig:
    """Sizes of a HyperNet; backbone and slots are those of the paper's FINE-NICE."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    code: int = 128
    """Numbers in the code of a picture."""
    columns: int = 1
    """Columns of a code, which the composed function treats alike; 1 is the paper's vector."""
    layers: int = 4
    """NICE layers."""
    slots: int = 48
    """Keys in a memory, and the width of the LSTM."""


class KeyMemory(nn.Module):
    """Slots of key matrices, mixed as one is told."""

    def __init__(self, rows_in: int, rows_out: int, *, slots: int):
        super().__init__()
        keys = spread_out(slots, rows_out, rows_in)
        self.keys = nn.Parameter(keys * (rows_in * rows_out) ** 0.25)  # the norm of keys in a functional memory

    def forward(self, mix: Tensor) -> Tensor:  # (b, s) -> (b, o, i)
        return (mix @ self.keys.flatten(1)).unflatten(1, self.keys.shape[1:])


class HyperBackbone(NICEBackbone):
    """NICE, with weights from an LSTM that is unrolled over the layers instead of over time."""

    def __init__(self, *, rows: int, columns: int, layers: int, slots: int):
        super().__init__(rows=rows, layers=layers, make_memory=lambda i, o: KeyMemory(i, o, slots=slots))
        self.cell = nn.LSTMCell(2 * self.middle * columns, slots)

    def recall(self, t: int, x: Tensor, y: Tensor, carried: Any) -> tuple[Tensor, Any]:
        carried = self.cell(torch.cat((x, y), dim=1).flatten(1), carried)  # its state (output, cell), both (b, s)
        return self.memory(t)(carried[0]), carried


class HyperNet(FINE):
    """FINE with other weights: W_t = Σ_s h_ts K_s, where h_t = LSTM([x_t, y_t], h_{t−1})."""

    def __init__(self, config: HyperNetConfig, *, channels: int, size: int):
        if config.slots < 1 or config.layers < 1:
            raise FineError(f"a HyperNet cannot have {config.layers} layers and {config.slots} slots: give 1 or more of each")
        frame = FINEConfig(
            encoder=config.encoder, standardise="none", code=config.code, columns=config.columns, slots=0, readings=1
        )
        super().__init__(frame, channels=channels, size=size)
        rows, columns = self.encoder.rows, self.encoder.columns
        self.backbone = HyperBackbone(rows=rows, columns=columns, layers=config.layers, slots=config.slots)
