"""Slow versions of the comparison models: one puzzle (7, d) at a time, in plain loops."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.models.comparison.sequence import ContextNorm


def _part(vector: Tensor, number: int, size: int) -> Tensor:
    return vector[size * number : size * (number + 1)]


def _softmax(numbers: list[Tensor]) -> list[Tensor]:
    powers = [number.exp() for number in numbers]
    return [power / sum(powers) for power in powers]


def slow_context_norm(norm: ContextNorm, embeddings: Tensor) -> Tensor:
    out = torch.empty_like(embeddings)
    for b in range(embeddings.shape[0]):
        for d in range(embeddings.shape[2]):
            feature = embeddings[b, :, d]
            mean = sum(feature) / 7
            variance = sum((z - mean) ** 2 for z in feature) / 6
            normalised = (feature - mean) / torch.sqrt(variance + 1e-8)
            out[b, :, d] = normalised * norm.gain[d] + norm.shift[d]
    return out


def items_of(puzzle: Tensor) -> list[Tensor]:
    """Every embedding with its position."""
    return [torch.cat((z, torch.tensor([float(n)]).double())) for n, z in enumerate(puzzle)]


def slow_relation_net(model: nn.Module, puzzle: Tensor) -> Tensor:
    total = 0
    for one in items_of(puzzle):
        for two in items_of(puzzle):
            hidden = model.pair(torch.cat((one, two))).relu()
            total = total + model.relation[1](hidden).relu()
    return model.head(total)


def slow_predi_net(model: nn.Module, puzzle: Tensor) -> Tensor:
    items = items_of(puzzle)
    queries = [query(torch.cat(items)) for query in model.queries]
    found = []
    for h in range(32):
        attended = []
        for query in queries:
            own = query[16 * h : 16 * (h + 1)]
            weights = torch.stack([own @ model.key(item) for item in items]).softmax(0)
            attended.append(sum(w * item for w, item in zip(weights, items, strict=True)))
        one, two = attended
        found += [model.relation(one) - model.relation(two), one[-1:], two[-1:]]
    return model.head(torch.cat(found))


def slow_transformer(model: nn.Module, puzzle: Tensor) -> Tensor:
    waves = torch.empty(7, 128)
    for n in range(7):
        for k in range(128):
            angle = n / 10_000 ** ((k - k % 2) / 128)
            waves[n, k] = math.cos(angle) if k % 2 else math.sin(angle)
    x = puzzle + waves.double()
    query, key, value = model.attention.project(x).chunk(3, dim=1)
    heads = []
    for h in range(8):
        part = slice(16 * h, 16 * (h + 1))
        attention = (query[:, part] @ key[:, part].T / math.sqrt(16)).softmax(1)
        heads.append(attention @ value[:, part])
    x = model.attention_norm(x + model.attention.combine(torch.cat(heads, dim=1)))
    x = model.feed_forward_norm(x + model.feed_forward(x))
    return model.head(model.last_norm(x).mean(0))


def slow_esbn(model: nn.Module, puzzle: Tensor) -> Tensor:
    """As published: 8 steps, each of which answers, reads and writes."""
    hidden, cell = torch.zeros(2, 512).double()
    read = torch.zeros(257).double()
    values, keys = [], []
    for z in [*puzzle, torch.zeros(128).double()]:
        hidden, cell = model.controller(read, (hidden, cell))
        key, gate, answer = model.key(hidden), model.gate(hidden), model.head(hidden)
        if values:
            similarity = torch.stack([z @ value for value in values])
            confidence = (model.confidence_gain * similarity + model.confidence_bias).sigmoid()
            memory = [torch.cat((k, c[None])) for k, c in zip(keys, confidence, strict=True)]
            weights = similarity.softmax(0)
            read = gate * sum(w * slot for w, slot in zip(weights, memory, strict=True))
        values.append(z)
        keys.append(key)
    return answer


def slow_hyper_net(model: nn.Module, puzzle: Tensor) -> Tensor:
    def move(x: Tensor, t: int, weight: Tensor) -> Tensor:
        first, second = x[:64], x[64:]
        if t % 2 == 0:
            return torch.cat((first, second + weight @ first.relu()))
        return torch.cat((first + weight @ second.relu(), second))

    backbone = model.backbone
    x, y, new, *choices = puzzle
    state = torch.zeros(2, 48).double()
    for t in range(4):
        kept = (x[:64] if t % 2 == 0 else x[64:]).relu()
        pair = torch.cat((kept, backbone.pseudo_outputs[t](y)))
        state = backbone.cell(pair, tuple(state))
        keys = backbone.memories[t // 2].keys
        weight = sum(h * key for h, key in zip(state[0], keys, strict=True))
        x, new = move(x, t, weight), move(new, t, weight)
    alpha = F.softplus(model.distance.raw[:, 0])
    return torch.stack([-(alpha * (choice - new) ** 2).sum() for choice in choices])


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


SLOW = {
    "relation-net": slow_relation_net,
    "predi-net": slow_predi_net,
    "transformer": slow_transformer,
    "esbn": slow_esbn,
    "hyper-net": slow_hyper_net,
    "corel-net": slow_corel_net,
    "abstractor": slow_abstractor,
    "inlay": lambda model, puzzle: slow_inlay(model, puzzle, slow_transformer),
    "dual-attention": slow_dual_attention,
}
