"""What the models with attention share: heads, the feed-forward layer, and the last two layers.

query, key = in_heads(self.queries(items), heads), in_heads(self.keys(items), heads)
items = norm(items + feed_forward(128, 512)(items))
"""

from torch import Tensor, nn

from fine.errors import FineError
from fine.models.comparison.sequence import CHOICES
from fine.models.initialisation import kaiming, xavier

MOST_LAYERS = 100


def check_heads(features: int, heads: int) -> None:
    """Refuse a width that the heads cannot share."""
    if features % heads:
        raise FineError(
            f"an embedding of {features} numbers does not fit {heads} heads: use an "
            "embedding_size that heads divide"
        )


def check_layers(layers: int) -> None:
    """Refuse more layers than could be made in a reasonable time."""
    if layers > MOST_LAYERS:
        raise FineError(f"layers is {layers}: give at most {MOST_LAYERS}")


def in_heads(items: Tensor, heads: int) -> Tensor:  # (b, n, heads × d) -> (b, heads, n, d)
    """The share that each head has of all features."""
    return items.unflatten(-1, (heads, -1)).transpose(1, 2)


def side_by_side(attended: Tensor) -> Tensor:  # (b, heads, n, d) -> (b, n, heads × d)
    """What the heads found, in one vector for each item."""
    return attended.transpose(1, 2).flatten(2)


def feed_forward(features: int, hidden: int) -> nn.Sequential:
    """Two layers that see one item at a time."""
    # Each is started before the next is made: runs depend on the order of random numbers.
    first = kaiming(nn.Linear(features, hidden))
    return nn.Sequential(first, nn.ReLU(), kaiming(nn.Linear(hidden, features)))


def answer_head(features: int, hidden: int) -> nn.Sequential:
    """Two layers from the features of a puzzle to the logits of its choices."""
    first = kaiming(nn.Linear(features, hidden))
    return nn.Sequential(first, nn.ReLU(), xavier(nn.Linear(hidden, CHOICES)))
