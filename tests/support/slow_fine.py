"""The default model, written down slowly: one image, one puzzle, one group element at a time.

    slow = SlowFINE(model)       # shares the weights of the model, and gives the same numbers

It reads the settings and weights of a model and calls nothing of it. The encoder is called for each
of the seven images by itself, a filter bank is moved and convolved for each group element, and the
weights of every puzzle are composed and multiplied out by themselves.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.geometry.d4 import C4, D4
from fine.models.encoders import P4CNN, P4MCNN
from fine.models.fine import FINE
from fine.models.group_convolution import GroupBatchNorm, GroupBias, GroupConv
from fine.models.memory import FunctionalMemory


class SlowFINE(nn.Module):
    """The numbers of a FINE with a p4-CNN or p4m-CNN and a linear or residual backbone."""

    def __init__(self, model: FINE):
        super().__init__()
        assert isinstance(model.encoder, P4CNN | P4MCNN)
        assert model.config.backbone in ("linear", "residual")
        self.model = model

    def forward(self, images: Tensor) -> Tensor:  # (b, 3 + k, channels, size, size) -> (b, k)
        embeddings = self.encode(images)
        return torch.stack([self.answer(e[0], e[1], e[2], e[3:]) for e in embeddings])

    def learn(self, images: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (b, k) and losses (b,) of training puzzles, in all directions."""
        logits, losses = [], []
        for e, answer in zip(self.encode(images), answers, strict=True):
            logits.append(self.answer(e[0], e[1], e[2], e[3:]))
            right = 3 + int(answer)  # y'
            # (example, its result, question, right answer), as numbers of images
            directions = [(2, right, 0, 1), (1, 0, right, 2), (right, 2, 1, 0)]
            further = [
                F.cross_entropy(self.answer(e[x], e[y], e[new], e), torch.tensor(place))
                for x, y, new, place in directions[: self.model.config.auxiliary_queries]
            ]
            loss = F.cross_entropy(logits[-1], answer)
            losses.append(loss + sum(further) / len(further) if further else loss)
        return torch.stack(logits), torch.stack(losses)

    def encode(self, images: Tensor) -> Tensor:  # (b, n, …) -> (b, n, rows, columns)
        images = slow_standardise(images, self.model.config.standardise)
        columns = [slow_encoder(self.model.encoder, images[:, n]) for n in range(images.shape[1])]
        return torch.stack(columns, dim=1)

    def answer(self, x: Tensor, y: Tensor, new: Tensor, choices: Tensor) -> Tensor:
        """One puzzle: x, y, x' (rows, columns) and choices (k, rows, columns) -> logits (k,)."""
        (memory,) = self.model.backbone.memories
        values, keys = slow_orbits(self.model, memory)
        residual = self.model.config.backbone == "residual"
        for _ in range(self.model.config.layers if residual else 1):
            wanted = y - x if residual else y
            weight = slow_weight(memory.ridge, values, keys, x, wanted)
            x = weight @ x + (x if residual else 0)
            new = weight @ new + (new if residual else 0)
        alpha = F.softplus(self.model.distance.raw)
        return -(alpha * (choices - new).square()).sum((1, 2))


def slow_standardise(images: Tensor, by: str) -> Tensor:
    """Puzzles (b, 3 + k, …), with each image seen as the first image of its pair."""
    if by == "none":
        return images
    seen = []
    for puzzle in images:
        for number, image in enumerate(puzzle):
            first = image if by == "image" else puzzle[0 if number < 2 else 2]
            spread = first.var(correction=0).sqrt() + 1e-3
            seen.append((image - first.mean()) / spread)
    return torch.stack(seen).view_as(images)


def slow_orbits(model: FINE, memory: FunctionalMemory) -> tuple[Tensor, Tensor]:
    """Values and keys (slots × elements, o, i): each slot, its rows and columns permuted."""
    permutations = model.encoder.row_permutations
    identity = torch.arange(model.encoder.rows)[None]
    moves = {
        "none": [(identity[0], identity[0])],
        "conjugate": [(g, g) for g in permutations],
        "two-sided": [(h, g) for h in permutations for g in permutations],
    }[model.config.symmetry]
    stored = (memory.values, memory.values if memory.keys is None else memory.keys)
    values, keys = (
        torch.stack([slot[of_y][:, of_x] for slot in slots for of_y, of_x in moves])
        for slots in stored
    )
    return values, keys


def slow_weight(ridge: float, values: Tensor, keys: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The weight (o, i) of one pair (i, c), (o, c), by the normal equations of its fit."""
    outputs = torch.stack([(value @ x).flatten() for value in values])  # what each makes of x
    gram = outputs @ outputs.T
    gram = gram + (ridge * gram.diagonal().mean() + 1e-8) * torch.eye(len(gram)).to(gram)
    coefficients = torch.linalg.solve(gram, outputs @ y.flatten())
    return sum(c * key for c, key in zip(coefficients, keys, strict=True))


def slow_encoder(encoder: P4CNN | P4MCNN, images: Tensor) -> Tensor:
    """Images (b, channels, size, size) -> embeddings (b, rows, columns), layer by layer."""
    maps = images[:, :, None]  # (b, channels, orientations, h, w)
    for layer in encoder.layers:
        if isinstance(layer, GroupConv):
            maps = slow_convolution(layer, maps)
        elif isinstance(layer, GroupBias):
            maps = maps + layer.bias[:, None, None, None]
        elif isinstance(layer, nn.ReLU):
            maps = F.relu(maps)
        else:
            norm = layer.norm if isinstance(layer, GroupBatchNorm) else layer
            maps = norm(maps.flatten(2, 3)).view_as(maps)
    # (b, per channel, channels of a column, columns), then channel below channel
    by_place = maps.permute(0, 3, 4, 2, 1)
    by_channel = by_place.reshape(len(maps), -1, encoder.columns)
    per_channel = by_place[0, ..., 0].numel()
    by_channel = by_channel.view(len(maps), per_channel, -1, encoder.columns)
    return by_channel.transpose(1, 2).reshape(len(maps), encoder.rows, encoder.columns)


def slow_convolution(layer: GroupConv, maps: Tensor) -> Tensor:
    """Maps (b, i, orientations, h, w) -> (b, o, elements, h', w'), one convolution per element."""
    elements, orientations, kernel, _ = layer.permutations.shape
    group = D4 if elements == D4.order else C4
    filters = layer.weight.unflatten(2, (orientations, kernel, kernel))
    results = []
    for g in range(elements):
        bank = filters
        if orientations > 1:  # they are permuted as the filters are moved
            back = group.inverse(g)
            bank = filters[:, :, [group.compose(h, back) for h in range(orientations)]]
        bank = group.move(g, bank).flatten(1, 2)
        stacked = maps.flatten(1, 2)
        results.append(F.conv2d(stacked, bank, stride=layer.stride, padding=layer.padding))
    together = torch.stack(results, dim=2)
    return together.mean(2, keepdim=True) if layer.pooling else together
