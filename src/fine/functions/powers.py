"""Rotations made of other rotations: which of all 24 does the result come nearest to, on a picture it was not composed from?

    errors = made_of_others(model, puzzles)            # name -> how many degrees each is off, (n,)

Nothing but the algebra of functions is used: powers, roots, mixes, one after another, the inverse.
"""

import torch
from torch import Tensor

from fine.functions.maps import Map, compose_map
from fine.models.fine import FINE
from fine.puzzles import FIRST, OTHER, SECOND, Puzzles
from fine.rules import Warp, rule_set

STEP = 15
"""Degrees from one rotation of the grid to the next."""
MADE = {
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
"""What is made, and how many degrees it should turn by."""
_CHUNK = 100


@torch.no_grad()
def made_of_others(model: FINE, puzzles: Puzzles) -> dict[str, Tensor]:
    """For everything that is made: degrees from what it should be to the nearest rotation, from −165 to 180, a puzzle each."""
    model.eval()
    warp = Warp(rule_set("rotation"), size=model.size)
    parts = [_errors(model, warp, puzzles[at : at + _CHUNK]) for at in range(0, len(puzzles), _CHUNK)]
    return {name: torch.cat([part[name] for part in parts]) for name in MADE}


def _errors(model: FINE, warp: Warp, puzzles: Puzzles) -> dict[str, Tensor]:
    x, new, other = (puzzles.images.pixels[puzzles.specs[:, place]].float() / 255 for place in (FIRST, SECOND, OTHER))
    steps = 360 // STEP

    def turned(pictures: Tensor, degrees: int) -> Tensor:
        return warp(pictures, torch.full((len(pictures),), degrees // STEP % steps))

    def shown(pictures: Tensor, degrees: int) -> Map:
        codes = model.encode(torch.stack((pictures, turned(pictures, degrees)), dim=1))
        return compose_map(model, [codes[:, 0]], [codes[:, 1]])

    # Two functions that are combined are composed from two pictures, as two hints would be.
    made = {
        "15°, shown": shown(x, 15),
        "90° to the power 1/6": shown(x, 90).power(1 / 6),
        "45°, shown": shown(x, 45),
        "half-way from 30° to 60°": shown(x, 30).mixed(shown(other, 60), 0.5),
        "30° @ 15°": shown(x, 30).after(shown(other, 15)),
        "90° to the power 1/2": shown(x, 90).power(1 / 2),
        "90°, shown": shown(x, 90),
        "45° to the power 2": shown(x, 45).power(2),
        "15° to the power 6": shown(x, 15).power(6),
        "inverse of 90°": shown(x, 90).inverse(),
    }
    choices = torch.stack([turned(new, STEP * step) for step in range(steps)], dim=1)
    codes = model.encode(torch.cat((new[:, None], choices), dim=1), firsts=[0] * (1 + steps))
    errors = {}
    for name, function in made.items():
        found = model.distance(codes[:, 1:], function(codes[:, 0])[:, None]).argmin(1)
        errors[name] = (STEP * found - MADE[name] + 165) % 360 - 165
    return errors
