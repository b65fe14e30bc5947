"""The search for a rule: single families first, mixes only if none of them explains the pairs.

    found = register([x1, x2], [y1, y2], families=("rotation", "scale"))

Candidates are refined coarse to fine, and those far behind are given up on the way (beam.py). The
best affine candidate is also refined as any affine map, so that a rotation with a small shift is
noticed.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from fine.errors import FineError, unknown
from fine.inference.registration.beam import Beam, proposal_of
from fine.inference.registration.choice import Registered, choose, nothing_to_see
from fine.inference.registration.families import choices, moving_families
from fine.inference.registration.mixes import MIXES
from fine.inference.registration.pairs import Pair
from fine.rules import Rule
from fine.threads import using_threads

REGISTERED_FAMILIES = (
    *("square", "translation", "rotation", "scale", "stretch", "shear", "any-mix", "affine-map"),
    *("wave", "fisheye", "swap", "black-white"),
)
"""Families that pairs are explained by."""
_ROUNDING = 1e-3  # of brightness
OF_MIXES = frozenset(("any-mix", "affine-map"))
"""Those of them that stand for mixes."""


@using_threads(1)  # many operations on small tensors
def register(
    xs: Sequence[Tensor],
    ys: Sequence[Tensor],
    *,
    families: Sequence[str] = REGISTERED_FAMILIES,
    starts: Sequence[Rule] = (),
    mixes: bool = True,
) -> Registered:
    """The rule that best takes every x to its y.

    A pair that no rule explains is no error here: `Registered.explains` is False, and
    `Registered.residual` says how much is left.

    Args:
        xs: Images, float (channels, h, w) in 0..1, of any sizes.
        ys: What became of each, perhaps in a frame of another size.
        families: Names of the families to explain them by, among `REGISTERED_FAMILIES`.
        starts: Rules to begin from, such as those a model names; then no grid is searched, which is
            quicker, and finds only what a start leads to.
        mixes: Whether to try mixes if no single family explains the pairs: an affine map with a
            wave, a fisheye, a swap or a negative.

    Examples:
        >>> import fine
        >>> x = fine.load_images("glyphs").pixels[160].float() / 255
        >>> found = fine.register([x], [x.rot90(1, (1, 2))])
        >>> str(found), found.rule.rules[0].parameters
        ('rotation 90°', (90.0,))
    """
    _check(xs, ys, families)
    if not starts and not set(families) - OF_MIXES:
        raise FineError(
            f"the families are {', '.join(families) or 'none'}: give at least one that a search "
            "can start from, such as square; mixes are found from there"
        )
    pairs = [Pair(x, y) for x, y in zip(xs, ys, strict=True)]
    if any(pair.is_flat for pair in pairs):
        return nothing_to_see(pairs)
    with torch.inference_mode():
        beam = Beam(pairs, tuple(families))
        items = moving_families(beam, starts)
        proposals = choices(beam)
        waiting = list(MIXES) if mixes and OF_MIXES & set(families) else []
        while waiting and not beam.settled(items, proposals):
            items = items + waiting.pop(0)(beam, items)
        finest = beam.finished(items)
        # Few pixels hide a bend: what explained them may not explain all.
        while waiting and not beam.settled(finest, proposals, number=-1):
            more = waiting.pop(0)(beam, items)
            items, finest = items + more, finest + beam.finished(more)
        proposals += map(proposal_of, finest)
        found = choose(proposals, pairs)
        for item in finest:
            if found.explains and proposal_of(item).rules == found.rule.rules:
                return found.polished(proposal_of(beam.polished(item)))
        return found


def _check(xs: Sequence[Tensor], ys: Sequence[Tensor], families: Sequence[str]) -> None:
    if not len(xs) or len(xs) != len(ys):
        raise FineError(
            f"there are {len(xs)} images x and {len(ys)} images y: give a y for every x, at least "
            "one"
        )
    for image in (*xs, *ys):
        if not isinstance(image, Tensor) or not image.is_floating_point():
            kind = image.dtype if isinstance(image, Tensor) else type(image).__name__
            raise FineError(f"an image of {kind} cannot be compared: give a tensor of floats")
        if image.ndim != 3 or image.shape[0] not in (1, 3) or min(image.shape[1:]) < 4:
            raise FineError(
                f"an image of shape {tuple(image.shape)} cannot be compared: give (channels, h, w) "
                "with 1 or 3 channels and at least 4 pixels a side"
            )
        if not (image.min() > -_ROUNDING and image.max() < 1 + _ROUNDING):  # or no number
            raise FineError("an image must have brightness between 0 and 1: divide it by its white")
    for name in families:
        if name not in REGISTERED_FAMILIES:
            raise unknown("family", name, REGISTERED_FAMILIES)
