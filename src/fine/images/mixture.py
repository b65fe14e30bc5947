"""Several sources as one: glyphs+omniglot+cifar100.

Puzzles show each source equally often, and the images of a puzzle come from one of them. A class
that several sources have, such as the apples of cifar100 and of cutouts, is one class: none is
learned from in one source and tested in another.
"""

from collections.abc import Sequence

import torch

from fine.errors import FineError
from fine.images.images import Images


def parts_of(name: str) -> list[str]:
    """The sources that a name means: one, or those of a mixture. A path may have a + in it."""
    return [name] if name.startswith("folder:") else name.split("+")


_MADE_OF = {"cutouts": "cifar100"}


def origins(name: str) -> set[str]:
    """Where the images of a source come from: its parts, or what these are made of."""
    return {_MADE_OF.get(part, part) for part in parts_of(name)}


def mix(sources: Sequence[Images]) -> Images:
    """The images of all sources, in colour if one of them is."""
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise FineError(f"'{'+'.join(names)}' has {name} twice: name every source once")
    channels = max(source.pixels.shape[1] for source in sources)
    class_names = tuple(dict.fromkeys(name for source in sources for name in source.class_names))
    number = {name: position for position, name in enumerate(class_names)}
    labels = [
        torch.tensor([number[name] for name in source.class_names])[source.labels]
        for source in sources
    ]
    counts = torch.tensor([len(source.labels) for source in sources])
    return Images(
        name="+".join(names),
        pixels=torch.cat([source.with_channels(channels).pixels for source in sources]),
        labels=torch.cat(labels),
        class_names=class_names,
        sources=torch.arange(len(sources)).repeat_interleave(counts),
    )
