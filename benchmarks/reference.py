"""FINE as a careful reader of the paper would write it down: one picture position after the other, one puzzle after the other.

    plain = PlainFINE(model)       # shares the weights of the model, and gives the same numbers

The encoder is called for each of the seven positions, a filter bank is moved and convolved for each way of its group, and the
weights of every puzzle are composed and multiplied out by themselves. Nothing is slow on purpose. What is not about the method,
rendering and the optimiser, is left to the trainer.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.encoders import P4CNN, P4MCNN
from fine.models.fine import FINE, standardised
from fine.models.memory import FunctionalMemory
from fine.models.symmetry import P4, P4M, GroupBatchNorm, GroupBias, GroupConv
from memory import read_one


class PlainFINE(nn.Module):
    """The numbers of a FINE with the p4-CNN or p4m-CNN and a linear, MLP or NICE backbone, found step by step."""

    def __init__(self, model: FINE):
        super().__init__()
        if not isinstance(model.encoder, P4CNN | P4MCNN) or model.config.backbone == "residual":
            raise FineError("the plain FINE is written for the p4-cnn and p4m-cnn encoders and linear, mlp and nice backbones")
        self.model = model

    def forward(self, pictures: Tensor) -> Tensor:  # (b, 3 + k, channels, size, size) -> (b, k)
        codes, self.slots = self.encode(pictures), all_forms(self.model)
        return torch.stack([self.answer(code[0], code[1], code[2], code[3:]) for code in codes])

    def learn(self, pictures: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and losses of training puzzles, in all readings."""
        logits, losses, self.slots = [], [], all_forms(self.model)
        for code, answer in zip(self.encode(pictures), answers, strict=True):
            logits.append(self.answer(code[0], code[1], code[2], code[3:]))
            loss = F.cross_entropy(logits[-1], answer)
            place = 3 + int(answer)  # of y'
            readings = ((2, place, 0, 1), (1, 0, place, 2), (place, 2, 1, 0))[: self.model.config.readings - 1]
            others = [
                F.cross_entropy(self.answer(code[x], code[y], code[new], code), torch.tensor(right))
                for x, y, new, right in readings
            ]
            losses.append(loss + sum(others) / len(others) if others else loss)
        return torch.stack(logits), torch.stack(losses)

    def encode(self, pictures: Tensor) -> Tensor:  # (b, n, channels, size, size) -> (b, n, rows, columns)
        seen = standardised(pictures, self.model.config.standardise)
        return torch.stack([encode_plainly(self.model.encoder, seen[:, place]) for place in range(seen.shape[1])], dim=1)

    def answer(self, x: Tensor, y: Tensor, new: Tensor, choices: Tensor) -> Tensor:  # (rows, columns) …, (k, …) -> (k,)
        """The function of one pair, applied to one picture, and how near each choice is to what comes out."""
        backbone, weights, state = self.model.backbone, [], x
        for t in range(backbone.layers):
            memory = backbone.memories[t // 2 if self.model.config.backbone == "nice" and self.model.config.layers else t]
            target = backbone.pseudo_outputs[t](y.T).T if hasattr(backbone, "pseudo_outputs") else y
            weight = compose(memory, *self.slots[memory], self.read(t, state), target)
            weights.append(weight)
            state = self.layer(t, state, weight)
        guess = new
        for t, weight in enumerate(weights):
            guess = self.layer(t, guess, weight)
        alpha = F.softplus(self.model.distance.raw)
        return -(alpha * (choices - guess).square()).sum((1, 2))

    def read(self, t: int, state: Tensor) -> Tensor:
        """What the weights of layer t multiply."""
        if self.model.config.backbone != "nice" or not self.model.config.layers:
            return state
        first, second = state.chunk(2)
        return F.relu(second if t % 2 else first)

    def layer(self, t: int, state: Tensor, weight: Tensor) -> Tensor:
        moved = weight @ self.read(t, state)
        if self.model.config.backbone == "linear":
            return moved
        if self.model.config.backbone == "mlp" or not self.model.config.layers:
            return moved if t else F.relu(moved)
        first, second = state.chunk(2)
        return torch.cat((first + moved, second) if t % 2 else (first, second + moved))


def all_forms(model: FINE) -> dict[FunctionalMemory, tuple[Tensor, Tensor]]:
    """The values and keys of every memory in all forms of its slots, made once for a batch."""
    return {
        memory: tuple(
            torch.stack([slot.flatten()[form].view_as(slot) for slot in slots for form in memory.forms])
            for slots in (memory.values, memory.values if memory.keys is None else memory.keys)
        )
        for memory in model.backbone.memories
    }


def compose(memory: FunctionalMemory, values: Tensor, keys: Tensor, x: Tensor, y: Tensor) -> Tensor:  # -> (o, i)
    """The weights that one pair (i, c), (o, c) calls for."""
    if memory.analogy == "similarity":
        return read_one(memory, x, y)
    made = (values @ x).flatten(1)  # what each slot, in each form, would make of x
    gram = made @ made.T
    gram = gram + (memory.ridge * gram.diagonal().mean() + 1e-8) * torch.eye(len(gram))
    mix = torch.linalg.solve(gram, made @ y.flatten())
    return torch.einsum("s,soi->oi", mix, keys)


def encode_plainly(encoder: P4CNN | P4MCNN, pictures: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
    """Feature maps as (b, channels, orientations, h, w), layer by layer."""
    maps = pictures[:, :, None]
    for layer in encoder.layers:
        if isinstance(layer, GroupConv):
            maps = convolve(layer, maps)
        elif isinstance(layer, GroupBias):
            maps = maps + layer.bias[:, None, None, None]
        elif isinstance(layer, nn.ReLU):
            maps = F.relu(maps)
        else:
            norm = layer.norm if isinstance(layer, GroupBatchNorm) else layer
            maps = norm(maps.flatten(2, 3)).view_as(maps)
    columns = maps.permute(0, 3, 4, 2, 1).reshape(len(maps), encoder.share, -1, encoder.columns)
    return columns.transpose(1, 2).reshape(len(maps), encoder.rows, encoder.columns)


def convolve(layer: GroupConv, maps: Tensor) -> Tensor:  # (b, i, orientations, h, w) -> (b, o, ways, h', w')
    """One convolution for every way the filters can be moved."""
    ways, orientations, side, _ = layer.moves.shape
    group, filters = P4M if ways == P4M.order else P4, layer.weight.unflatten(2, (orientations, side, side))
    made = []
    for way in range(ways):
        turned = filters
        if orientations > 1:  # they change places as the filters are moved
            turned = filters[:, :, [group.after(other, group.undo(way)) for other in range(orientations)]]
        bank = group.move(way, turned).flatten(1, 2)
        made.append(F.conv2d(maps.flatten(1, 2), bank, stride=layer.stride, padding=layer.padding))
    return torch.stack(made, dim=2).mean(2, keepdim=True) if layer.pooling else torch.stack(made, dim=2)
