"""Slow versions of the models since 2021: one puzzle (7, d) at a time, in plain loops."""

import math

import torch
from torch import Tensor, nn


def _part(vector: Tensor, number: int, size: int) -> Tensor:
    return vector[size * number : size * (number + 1)]


def _softmax(numbers: list[Tensor]) -> list[Tensor]:
    powers = [number.exp() for number in numbers]
    return [power / sum(powers) for power in powers]


def slow_corel_net(model: nn.Module, puzzle: Tensor) -> Tensor:
    rows = []
    for one in puzzle:
        similar = [sum(a * b for a, b in zip(one, two, strict=True)) for two in puzzle]
        most = max(similar)
        rows += _softmax([number - most for number in similar])
    return model.head(model.first(torch.stack(rows)).relu())


def slow_abstractor(model: nn.Module, puzzle: Tensor) -> Tensor:
    states = list(model.symbols)
    for layer in model.layers:
        attention = layer.attention
        found = []
        for one, state in zip(puzzle, states, strict=True):
            heads = []
            for h in range(8):
                query = _part(attention.queries(one), h, 16)
                keys = [_part(attention.keys(two), h, 16) for two in puzzle]
                weights = _softmax([query @ key / 4 for key in keys])
                values = [_part(attention.values(other), h, 16) for other in states]
                heads.append(sum(w * v for w, v in zip(weights, values, strict=True)))
            state = layer.attention_norm(state + attention.combine(torch.cat(heads)))
            found.append(layer.feed_forward_norm(state + layer.feed_forward(state)))
        states = found
    return model.head(sum(states) / 7)


def slow_inlay(model: nn.Module, puzzle: Tensor, transformer) -> Tensor:
    """``transformer`` is the slow version of what follows the layer."""
    layer, indirect = model.indirection, []
    for one in puzzle:
        graphs = []
        for g in range(8):
            query = _part(layer.queries(one), g, 16)
            edges = _softmax([query @ _part(layer.keys(two), g, 16) / 4 for two in puzzle])
            vertices = [_part(vertex, g, 16) for vertex in layer.vertices]
            graphs.append(sum(e * v for e, v in zip(edges, vertices, strict=True)))
        indirect.append(torch.cat(graphs))
    return transformer(model, torch.stack(indirect))


def slow_dual_attention(model: nn.Module, puzzle: Tensor) -> Tensor:
    items = [z + place for z, place in zip(puzzle, model.positions, strict=True)]
    for layer in model.layers:
        items = [_dual(layer, one, items, model.symbols) for one in items]
    return model.head(sum(items) / 7)


def _dual(layer: nn.Module, one: Tensor, items: list[Tensor], symbols: Tensor) -> Tensor:
    attention, carried = layer.attention, []
    for two, symbol in zip(items, symbols, strict=True):
        asked, there = attention.relation_queries(one), attention.relation_keys(two)
        relation = [_part(asked, r, 8) @ _part(there, r, 8) / math.sqrt(8) for r in range(16)]
        from_relations = attention.from_relations(torch.stack(relation))
        carried.append(from_relations + attention.from_symbols(symbol))
    query, heads = attention.queries(one), []
    keys = [attention.keys(two) for two in items]
    values = [attention.values(two) for two in items]
    for h in range(8):
        own = _part(query, h, 16)
        weights = _softmax([own @ _part(key, h, 16) / 4 for key in keys])
        messages = [_part(value, h, 16) for value in values]
        if h >= 4:
            messages = [_part(message, h - 4, 16) for message in carried]
        heads.append(sum(w * m for w, m in zip(weights, messages, strict=True)))
    one = layer.attention_norm(one + attention.combine(torch.cat(heads)))
    return layer.feed_forward_norm(one + layer.feed_forward(one))


def slow_vit(model: nn.Module, puzzle: Tensor) -> Tensor:
    """One puzzle (7, channels, 32, 32), with the sizes of the defaults."""
    tokens = []
    for n, image in enumerate(puzzle):
        for place in range(16):
            down, right = divmod(place, 4)
            patch = image[:, 8 * down : 8 * down + 8, 8 * right : 8 * right + 8]
            embedded = model.embed.weight.flatten(1) @ patch.flatten() + model.embed.bias
            tokens.append(embedded + model.places[place] + model.roles[min(n, 3)])
    for layer in model.layers:
        normal = [layer.attention_norm(token) for token in tokens]
        projected = [layer.attention.project(token).chunk(3) for token in normal]
        keys, values = (torch.stack([p[n] for p in projected]) for n in (1, 2))
        moved = []
        for token, (query, _, _) in zip(tokens, projected, strict=True):
            heads = []
            for h in range(4):
                part = slice(24 * h, 24 * (h + 1))
                similar = keys[:, part] @ query[part] / math.sqrt(24)
                heads.append(similar.softmax(0) @ values[:, part])
            token = token + layer.attention.combine(torch.cat(heads))
            moved.append(token + layer.feed_forward(token))
        tokens = moved
    choices = [tokens[16 * n : 16 * (n + 1)] for n in range(3, 7)]
    means = [sum(model.last_norm(token) for token in choice) / 16 for choice in choices]
    return torch.cat([model.head(mean) for mean in means])
