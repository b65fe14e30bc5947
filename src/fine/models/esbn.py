"""ESBN, the Emergent Symbol Binding Network (Webb et al., 2021): a controller that never sees a picture, only its own symbols.

It writes a key of its own making beside each code. A new code, compared with the earlier ones, brings back their keys.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.models.context import CHOICES, SequenceModel
from fine.models.initialisation import kaiming, xavier


@dataclass(frozen=True)
class ESBNConfig:
    """Sizes of an ESBN; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    code: int = 128
    """Numbers in the code of a picture."""
    key: int = 256
    """Numbers in a key."""
    hidden: int = 512
    """Width of the LSTM."""
    scaled: bool = False
    """Divide similarities by √code, so that a softmax over them starts soft; Webb et al. do not."""


class ESBN(SequenceModel):
    """An LSTM whose only input is what its memory gave back: gate · Σ_s softmax_s(z_t·z_s) [key_s, confidence_s]."""

    def __init__(self, config: ESBNConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        self.scaled = config.scaled
        self.controller = nn.LSTMCell(config.key + 1, config.hidden)
        for weight in (self.controller.weight_ih, self.controller.weight_hh):
            for block, gain in zip(weight.chunk(4), (1, 1, 5 / 3, 1), strict=True):  # input, forget, cell, output
                nn.init.xavier_normal_(block, gain=gain)
        nn.init.zeros_(self.controller.bias_ih)
        nn.init.zeros_(self.controller.bias_hh)
        self.key = nn.Sequential(kaiming(nn.Linear(config.hidden, config.key)), nn.ReLU())
        self.gate = nn.Sequential(xavier(nn.Linear(config.hidden, 1)), nn.Sigmoid())
        self.head = xavier(nn.Linear(config.hidden, CHOICES))
        self.confidence_gain = nn.Parameter(torch.ones(()))
        self.confidence_bias = nn.Parameter(torch.zeros(()))

    def answer(self, codes: Tensor) -> Tensor:
        b, n, _ = codes.shape
        similarity = codes @ codes.mT  # (b, now, past): known before the first step, since codes do not depend on the LSTM
        if self.scaled:
            similarity = similarity / math.sqrt(codes.shape[2])
        confidence = (self.confidence_gain * similarity + self.confidence_bias).sigmoid()
        # Nothing is read before step 1, so until then all puzzles share one state, a batch of 1.
        read = codes.new_zeros(1, self.controller.input_size)
        state = (codes.new_zeros(1, self.controller.hidden_size),) * 2
        keys: list[Tensor] = []
        for t in range(n):
            state = self.controller(read, (state[0].expand(len(read), -1), state[1].expand(len(read), -1)))
            if t:
                weight = similarity[:, t, :t].softmax(1)[:, None]  # (b, 1, past)
                memory = torch.cat((torch.stack(keys, dim=1), confidence[:, t, :t, None]), dim=2)  # (b, past, key + 1)
                read = self.gate(state[0]) * (weight @ memory).squeeze(1)
            keys.append(self.key(state[0]).expand(b, -1))
        # The step after the last picture answers; what it would read and write is of no use to anyone.
        return self.head(self.controller(read, state)[0])
