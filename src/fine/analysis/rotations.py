"""Rotations made of other rotations: which of all 24 does the result come nearest to?

    errors = rotation_errors(model, puzzles)           # name -> how many degrees it is off, (n,)

Only the algebra of functions is used: powers, roots, interpolation, one after another, the inverse.
"""

import torch
from torch import Tensor

from fine.models.embedding_functions import EmbeddingFunction, compose_function
from fine.models.paper import FINE
from fine.puzzles import FIRST, OTHER, SECOND, Puzzles
from fine.rules import Warp, rule_set

STEP = 15
"""Degrees from one rotation of the grid to the next."""
TARGETS = {
    "15°, shown": 15,
    "90° to the power 1/6": 15,
    "45°, shown": 45,
    "half-way from 30° to 60°": 45,
    "30° @ 15°": 45,
    "90° to the power 1/2": 45,
    "90°, shown": 90,
    "45° to the power 2": 90,
    "15° to the power 6": 90,
    "inverse of 90°": 270,
}
"""What is made, and how many degrees it should rotate by."""
_CHUNK = 100


@torch.no_grad()
def rotation_errors(model: FINE, puzzles: Puzzles) -> dict[str, Tensor]:
    """For everything that is made: degrees from its target to the nearest rotation, −165 to 180.

    There is one for every puzzle.
    """
    model.eval()
    warp = Warp(rule_set("rotation"), size=model.size)
    chunks = [puzzles[at : at + _CHUNK] for at in range(0, len(puzzles), _CHUNK)]
    errors = [_errors(model, warp, chunk) for chunk in chunks]
    return {name: torch.cat([part[name] for part in errors]) for name in TARGETS}


def _errors(model: FINE, warp: Warp, puzzles: Puzzles) -> dict[str, Tensor]:
    pixels, specs = puzzles.images.pixels, puzzles.specs
    x, new, other = (pixels[specs[:, place]].float() / 255 for place in (FIRST, SECOND, OTHER))
    steps = 360 // STEP

    def rotated(images: Tensor, degrees: int) -> Tensor:
        return warp(images, torch.full((len(images),), degrees // STEP % steps))

    def shown(images: Tensor, degrees: int) -> EmbeddingFunction:
        pairs = torch.stack((images, rotated(images, degrees)), dim=1)
        before, after = model.encode(pairs).unbind(1)
        return compose_function(model, [before], [after])

    # Two functions that are combined are composed from two images, as two hints would be.
    made = {
        "15°, shown": shown(x, 15),
        "90° to the power 1/6": shown(x, 90).power(1 / 6),
        "45°, shown": shown(x, 45),
        "half-way from 30° to 60°": shown(x, 30).interpolate(shown(other, 60), 0.5),
        "30° @ 15°": shown(x, 30).after(shown(other, 15)),
        "90° to the power 1/2": shown(x, 90).power(1 / 2),
        "90°, shown": shown(x, 90),
        "45° to the power 2": shown(x, 45).power(2),
        "15° to the power 6": shown(x, 15).power(6),
        "inverse of 90°": shown(x, 90).inverse(),
    }
    choices = torch.stack([rotated(new, STEP * step) for step in range(steps)], dim=1)
    images = torch.cat((new[:, None], choices), dim=1)
    embeddings = model.encode(images, firsts=[0] * images.shape[1])
    errors = {}
    for name, function in made.items():
        guess = function(embeddings[:, 0])
        found = model.distance(embeddings[:, 1:], guess[:, None]).argmin(1)
        errors[name] = (STEP * found - TARGETS[name] + 165) % 360 - 165
    return errors
