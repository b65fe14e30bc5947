"""FINE as published, in one file: `fine-nice` and `fine-mlp` are this model.

Kha Pham, Hung Le, Man Ngo and Truyen Tran. Functional Indirection Neural Estimator for Better
Out-of-distribution Generalization. NeurIPS 2022.

    model = FINE(PaperConfig(backbone="nice"), channels=1, size=32)
    logits = model(images)                    # x, y, x' and 4 choices (b, 7, 1, 32, 32) -> (b, 4)

A hidden rule takes x to y. The model finds the choice y'_i to which the same rule takes x':

    x, y, x', y'_i = p4-CNN(images)                        embeddings, vectors of d numbers
    W_t^q = y_t x_t⁺, with the pseudo-output y_t = γ_t(y)  the query for layer t of the backbone
    a_t = ⟨M_t^value, W_t^q⟩ / √(d_in d_out)               analogy: compare with the values (Eq. 1)
    W_t = Σ_s a_{t,s} M_{t,s}^key                          indirection: combine the keys (Eq. 2)
    y* = φ_{x,y}(x'),  p(y'_i | x') ∝ exp(−η(y'_i, y*))    run the backbone, measure distances

Embeddings are columns, (b, d, 1). The paper writes weights as d_in × d_out; here they are
(out, in), so that W_t x_t is a matrix product. Comments say where the paper leaves a choice open.

tests/models/test_paper.py compares it with a slow reference, one image and one slot at a time;
`fine reproduce table1` measures it beside the paper's numbers (results/tables/table1.md).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.encoders import make_encoder
from fine.models.initialisation import orthonormal
from fine.models.linear_systems import cholesky

QUERIES = ("solve", "iterate")
BACKBONES = ("nice", "mlp")
_TINY = 1e-8  # keeps the Gram matrix of an all-zero x invertible; x⁺ is then zero, as it should be

Weights = Sequence[Tensor]  # a composed function φ_{x,y}: a (b, out, in) matrix for each layer
MakeMemory = Callable[[int, int], nn.Module]  # (rows in, rows out) -> a memory for such a layer


def pseudo_inverse(
    x: Tensor, *, ridge: float = 0.0, method: str = "solve", iterations: int = 30
) -> Tensor:
    """x⁺ = (xᵀx + λI)⁻¹ xᵀ, (b, i, c) -> (b, c, i), with λ = ``ridge`` × the mean diagonal of xᵀx.

    The paper has one column and no ridge. ``solve`` is exact. ``iterate`` is the method of
    Ben-Israel and Cohen, V ← V(2I − xV) from V = αxᵀ: every V is P xᵀ for a c × c matrix P, so the
    loop updates the small P. Both carry gradients. A wide x is transposed first.
    """
    if x.shape[-1] > x.shape[-2]:
        return pseudo_inverse(x.mT, ridge=ridge, method=method, iterations=iterations).mT
    gram = regularised(x.mT @ x, ridge)  # (b, c, c)
    if method == "solve":
        if gram.shape[-1] == 1:
            return x.mT / gram
        return torch.cholesky_solve(x.mT, cholesky(gram))
    if method != "iterate":
        raise unknown("pseudo-inverse", method, QUERIES)
    identity = torch.eye(gram.shape[-1], dtype=x.dtype, device=x.device)
    # Any 0 < α < 2 / largest eigenvalue converges; the largest row sum bounds that eigenvalue.
    inverse = identity / gram.abs().sum(-1).amax(-1)[..., None, None]
    for _ in range(iterations):
        inverse = inverse @ (2 * identity - gram @ inverse)
    return inverse @ x.mT


def regularised(gram: Tensor, ridge: float) -> Tensor:  # (..., n, n), the same out
    """A Gram matrix with ``ridge`` × its mean diagonal added to its diagonal."""
    added = ridge * gram.diagonal(dim1=-2, dim2=-1).mean(-1) + _TINY
    identity = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    return gram + added[..., None, None] * identity


class FunctionalMemory(nn.Module):
    """M_t: slots of a value and a key matrix each. With 0 slots the query itself is the weight."""

    values: nn.Parameter  # (s, o, i): M^value
    keys: nn.Parameter  # (s, o, i): M^key

    def __init__(self, rows_in: int, rows_out: int, *, slots: int, method: str = "solve"):
        super().__init__()
        if slots < 0:
            raise FineError(f"a memory cannot have {slots} slots: give 0 or more")
        if method not in QUERIES:
            raise unknown("pseudo-inverse", method, QUERIES)
        self.slots, self.method = slots, method
        self.scale = math.sqrt(rows_in * rows_out)
        if slots:
            # Open in the paper: how slots start. Squared, this norm cancels the scale of Eq. 1, so
            # that a query in the span of the values gives a weight of the same norm.
            norm = math.sqrt(self.scale)
            self.values = nn.Parameter(orthonormal(slots, rows_out, rows_in) * norm)
            self.keys = nn.Parameter(orthonormal(slots, rows_out, rows_in) * norm)

    def query(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, 1), (b, o, 1) -> (b, o, i)
        """W^q = y x⁺, the least-squares map from x to y."""
        return y @ pseudo_inverse(x, method=self.method)

    def coefficients(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, 1), (b, o, 1) -> (b, s)
        """a, the similarity of the query to each value; no softmax, so any real number."""
        # Eq. 1: a = fconcat(M^value)ᵀ flatten(W^q) / √(d_in d_out)
        return self.query(x, y).flatten(1) @ self.values.flatten(1).T / self.scale

    def forward(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, 1), (b, o, 1) -> (b, o, i)
        if not self.slots:
            return self.query(x, y)
        # Eq. 2: W = reshape(fconcat(M^key) a)
        return (self.coefficients(x, y) @ self.keys.flatten(1)).unflatten(1, self.keys.shape[1:])


class Backbone(nn.Module, ABC):
    """A network that reads the weights of its layers from memories. Subclasses define ``layer``."""

    layers: int
    memories: nn.ModuleList
    pseudo_outputs: nn.ModuleList  # the γ_t, "1-layer neural networks": here linear layers

    def compose(self, x: Tensor, y: Tensor) -> Weights:  # (b, d, 1) twice
        """φ_{x,y}: each layer finds its weight from its input x_t and its pseudo-output γ_t(y)."""
        weights: list[Tensor] = []
        for t in range(self.layers):
            x_t = self.layer_input(t, x)
            y_t = self.pseudo_output(t, x_t, y)
            weights.append(self.memory(t)(x_t, y_t))
            x = self.layer(t, weights[t], x)
        return weights

    def run(self, weights: Weights, x: Tensor) -> Tensor:  # (b, d, 1), the same out
        """The network with these weights, applied to x."""
        for t in range(self.layers):
            x = self.layer(t, weights[t], x)
        return x

    @abstractmethod
    def layer(self, t: int, weight: Tensor, x: Tensor) -> Tensor:  # (b, d, 1), the same out
        """Layer t with weight W_t."""

    def layer_input(self, t: int, x: Tensor) -> Tensor:
        """x_t, what W_t multiplies in layer t; x is what enters the layer."""
        return x

    def pseudo_output(self, t: int, x: Tensor, y: Tensor) -> Tensor:
        """y_t = γ_t(y), what W_t should make of x_t."""
        return self.pseudo_outputs[t](y.mT).mT

    def memory(self, t: int) -> nn.Module:
        """The memory that layer t reads."""
        return self.memories[t]


class MLP(Backbone):
    """W_1 relu(W_0 x), for rules that need not be invertible."""

    layers = 2

    def __init__(self, *, rows: int, make_memory: MakeMemory):
        super().__init__()
        self.memories = nn.ModuleList(make_memory(rows, rows) for _ in range(2))
        self.pseudo_outputs = nn.ModuleList(nn.Linear(rows, rows) for _ in range(2))

    def layer(self, t: int, weight: Tensor, x: Tensor) -> Tensor:
        return F.relu(weight @ x) if t == 0 else weight @ x


class NICE(Backbone):
    """Additive coupling layers (Dinh et al., 2014): a layer shifts one half of x by a function of
    the other half, which it keeps, so it can be inverted. The halves take turns.
    """

    def __init__(self, *, rows: int, layers: int, make_memory: MakeMemory):
        super().__init__()
        if rows % 2:
            raise FineError(f"NICE cannot halve embeddings of {rows} rows: use an even number")
        if layers > 1000:
            raise FineError(f"NICE cannot have {layers} layers: give at most 1000")
        half = rows // 2
        self.middle, self.layers = half, layers
        self.memories = nn.ModuleList(make_memory(half, half) for _ in range((layers + 1) // 2))
        self.pseudo_outputs = nn.ModuleList(nn.Linear(rows, half) for _ in range(layers))

    def memory(self, t: int) -> nn.Module:
        return self.memories[t // 2]  # M_2t = M_2t+1, because a layer changes only half of x

    def layer_input(self, t: int, x: Tensor) -> Tensor:
        # Open in the paper: the function of a coupling layer. Here it is W_t relu(kept half).
        return F.relu(x[:, : self.middle] if t % 2 == 0 else x[:, self.middle :])

    def layer(self, t: int, weight: Tensor, x: Tensor) -> Tensor:
        return self._shift(t, weight @ self.layer_input(t, x), x)

    def invert(self, weights: Weights, y: Tensor) -> Tensor:  # (b, d, 1), the same out
        """The x that ``run`` takes to y: the layers in reverse, their shifts subtracted."""
        for t in reversed(range(self.layers)):
            y = self._shift(t, -(weights[t] @ self.layer_input(t, y)), y)
        return y

    def _shift(self, t: int, shift: Tensor, x: Tensor) -> Tensor:
        first, second = x[:, : self.middle], x[:, self.middle :]
        return torch.cat((first, second + shift) if t % 2 == 0 else (first + shift, second), dim=1)


class WeightedDistance(nn.Module):
    """The metric η(u, v) = Σ_i α_i (u_i − v_i)², with trainable α_i = softplus(raw_i) ≥ 0."""

    def __init__(self, *, rows: int, columns: int = 1):
        super().__init__()
        start = 1 / math.sqrt(rows * columns)  # distances, hence logits, start at a moderate size
        self.raw = nn.Parameter(torch.full((rows, columns), math.log(math.expm1(start))))

    def forward(self, u: Tensor, v: Tensor) -> Tensor:  # (..., d, 1) twice -> (...)
        return (F.softplus(self.raw) * (u - v).square()).sum((-2, -1))


@dataclass(frozen=True)
class PaperConfig:
    """What the paper varies; the defaults are those of its experiments on Omniglot."""

    encoder: str = "p4-cnn"
    """The network that embeds images: p4-cnn, or another of fine.models.encoders."""
    embedding_size: int = 128
    """d, the length of an embedding."""
    backbone: str = "nice"
    """nice, for invertible rules, or mlp."""
    layers: int = 4
    """NICE layers; with 0 the backbone is the MLP, which always has two."""
    slots: int = 48
    """(value, key) pairs in a memory; the appendix says 8 to 32. With 0 the query is the weight."""
    query: str = "solve"
    """How to find the pseudo-inverse: solve (exact) or iterate (Ben-Israel and Cohen)."""


def make_backbone(config: PaperConfig, *, rows: int) -> NICE | MLP:
    """The backbone that the configuration names, for embeddings of ``rows`` numbers."""
    if config.backbone not in BACKBONES:
        raise unknown("backbone", config.backbone, BACKBONES)
    if config.layers < 0:
        raise FineError(f"a backbone cannot have {config.layers} layers: give 0 or more")
    make_memory = partial(FunctionalMemory, slots=config.slots, method=config.query)
    if config.backbone == "mlp" or config.layers == 0:
        return MLP(rows=rows, make_memory=make_memory)
    return NICE(rows=rows, layers=config.layers, make_memory=make_memory)


class FINE(nn.Module):
    """Composes the function φ_{x,y} that takes x to y; the choice nearest φ_{x,y}(x') wins."""

    config: Any  # a PaperConfig; models that extend this one have more settings
    backbone: Backbone

    def __init__(self, config: PaperConfig, *, channels: int, size: int):
        super().__init__()
        self.config, self.channels, self.size = config, channels, size
        d = config.embedding_size
        self.encoder = make_encoder(
            config.encoder, channels=channels, size=size, embedding_size=d, columns=1
        )
        self.backbone = make_backbone(config, rows=d)
        self.distance = WeightedDistance(rows=d)

    def encode(self, images: Tensor, *, firsts: Sequence[int] | None = None) -> Tensor:
        """(b, n, channels, size, size) -> embeddings (b, n, d, 1), in one encoder batch."""
        # ``firsts`` is for models that standardise images pair by pair; the paper does not.
        return self.encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])

    def compose(self, x: Tensor, y: Tensor) -> Weights:  # (b, d, 1) twice
        """φ_{x,y}, as the weights of the backbone."""
        return self.backbone.compose(x, y)

    def apply_function(self, weights: Weights, x: Tensor) -> Tensor:  # (b, d, 1), the same out
        """y* = φ_{x,y}(x')."""
        return self.backbone.run(weights, x)

    def score(self, embeddings: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, d, 1) -> logits −η(y'_i, y*), (b, k)."""
        weights = self.compose(embeddings[:, 0], embeddings[:, 1])
        guess = self.apply_function(weights, embeddings[:, 2])  # y*
        return -self.distance(embeddings[:, 3:], guess[:, None])

    def forward(self, images: Tensor) -> Tensor:
        """x, y, x' and k choices (b, 3 + k, channels, size, size) -> logits (b, k)."""
        return self.score(self.encode(images))

    def probabilities(self, images: Tensor) -> Tensor:
        """p(y'_i | x'): images as in ``forward`` -> (b, k), each row summing to 1."""
        return self(images).softmax(dim=-1)
