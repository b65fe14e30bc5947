"""What tests of all models share: every model with all its parts, each as small as it can be."""

from torch import nn

from fine.models import make_model

_FINE = {"embedding_size": 32, "columns": 2, "slots": 2}
_PYRAMID = {"columns": 2, "coarse_size": 32, "coarse_slots": 2, "fine_size": 128, "fine_slots": 2}
_OTHERS = {"encoder": "p4-cnn", "embedding_size": 16}
SMALL = {
    "fine": _FINE,
    "fine-grouped": {**_FINE, "groups": 2},
    "fine-pyramid": _PYRAMID,
    "fine-nice": {**_OTHERS, "slots": 2, "layers": 2},
    "fine-mlp": {**_OTHERS, "slots": 2},
    "esbn": {**_OTHERS, "key": 3, "hidden": 4},
    "transformer": {**_OTHERS, "heads": 2, "feed_forward": 4, "hidden": 4},
    "hyper-net": {**_OTHERS, "layers": 2, "slots": 2},
    "predi-net": {**_OTHERS, "heads": 2, "key": 3, "relations": 2, "hidden": 4},
    "relation-net": {**_OTHERS, "hidden": 4, "relation": 3},
    "corel-net": {**_OTHERS, "hidden": 4},
    "abstractor": {**_OTHERS, "layers": 1, "heads": 2, "feed_forward": 4, "hidden": 4},
    "inlay": {**_OTHERS, "heads": 2, "feed_forward": 4, "hidden": 4, "graphs": 2},
    "dual-attention": {
        **_OTHERS,
        **{"layers": 1, "heads": 2, "relations": 2, "key": 3, "feed_forward": 4, "hidden": 4},
    },
    "vit": {"grid": 2, "embedding_size": 8, "layers": 1, "heads": 2, "feed_forward": 4},
    "blind": {**_OTHERS, "hidden": 4},
    "object-only": {**_OTHERS, "hidden": 4},
}
"""Settings by model."""


def small_model(name: str, **settings: object) -> nn.Module:
    """A small model for images of one channel and 32 × 32 pixels."""
    return make_model(name, channels=1, size=32, settings={**SMALL[name], **settings})
