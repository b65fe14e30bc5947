"""ESBN, the Emergent Symbol Binding Network (Webb et al., 2021).

Its controller never sees an image. For each embedding it writes a key of its own to the memory.
A new embedding, compared with the earlier ones, brings back their keys.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fine.models.comparison.sequence import CHOICES, SequenceModel
from fine.models.initialisation import kaiming, xavier


@dataclass(frozen=True)
class ESBNConfig:
    """Sizes of an ESBN; the defaults are those of Webb et al. (2021)."""

    encoder: str = "p4-cnn"
    """p4-cnn, p4m-cnn, resnet, mlp or conv."""
    embedding_size: int = 128
    """Size of the embedding of an image."""
    key: int = 256
    """Size of a key."""
    hidden: int = 512
    """Width of the LSTM."""
    scaled: bool = False
    """Divide similarities by √embedding_size, so that a softmax over them starts soft; Webb et al.
    do not."""


class ESBN(SequenceModel):
    """An LSTM whose only input is what its memory returns:

    gate · Σ_s softmax_s(z_t·z_s) [key_s, confidence_s].
    """

    def __init__(self, config: ESBNConfig, *, channels: int, size: int):
        super().__init__(config, channels=channels, size=size)
        self.scaled = config.scaled
        self.controller = nn.LSTMCell(config.key + 1, config.hidden)
        self._start_controller()
        self.key = nn.Sequential(kaiming(nn.Linear(config.hidden, config.key)), nn.ReLU())
        self.gate = nn.Sequential(xavier(nn.Linear(config.hidden, 1)), nn.Sigmoid())
        self.head = xavier(nn.Linear(config.hidden, CHOICES))
        self.confidence_gain = nn.Parameter(torch.ones(()))
        self.confidence_bias = nn.Parameter(torch.zeros(()))

    def _start_controller(self) -> None:
        """As Webb et al. do: the input and forget gates as one matrix, the others separately."""
        size = self.controller.hidden_size
        for weight in (self.controller.weight_ih, self.controller.weight_hh):
            in_and_forget, cell, out = weight.split((2 * size, size, size))
            nn.init.xavier_normal_(in_and_forget)
            nn.init.xavier_normal_(cell, gain=5 / 3)
            nn.init.xavier_normal_(out)
        nn.init.zeros_(self.controller.bias_ih)
        nn.init.zeros_(self.controller.bias_hh)

    def answer(self, embeddings: Tensor) -> Tensor:
        b, n, d = embeddings.shape
        # All similarities are known before the first step: embeddings do not depend on the LSTM.
        similarity = embeddings @ embeddings.mT  # (b, now, past)
        if self.scaled:
            similarity = similarity / math.sqrt(d)
        confidence = (self.confidence_gain * similarity + self.confidence_bias).sigmoid()
        # Nothing is read before step 1, so until then all puzzles share one state, a batch of 1.
        read = embeddings.new_zeros(1, self.controller.input_size)
        hidden = cell = embeddings.new_zeros(1, self.controller.hidden_size)
        keys: list[Tensor] = []
        for t in range(n):
            state = (hidden.expand(len(read), -1), cell.expand(len(read), -1))
            hidden, cell = self.controller(read, state)
            if t:
                weight = similarity[:, t, :t].softmax(1)[:, None]  # (b, 1, past)
                past_keys = torch.stack(keys, dim=1)  # (b, past, key)
                memory = torch.cat((past_keys, confidence[:, t, :t, None]), dim=2)
                read = self.gate(hidden) * (weight @ memory).squeeze(1)
            keys.append(self.key(hidden).expand(b, -1))
        # The step after the last image answers; nobody needs what it would read and write.
        return self.head(self.controller(read, (hidden, cell))[0])
