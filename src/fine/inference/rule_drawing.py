"""Arrays and tensors under a rule: as Pillow images where Pillow has them, else channel by channel.

draw_array(array, rule, settings)       # (h, w) or (h, w, channels), of any depth
draw_tensor(images, rule, settings)     # (..., channels, h, w)
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from fine.apply import Settings, apply_map
from fine.apply.canvas import Frame, make_canvas
from fine.apply.modes import grey_of
from fine.apply.settings import colour_of
from fine.errors import FineError
from fine.rules.rule_map import RuleMap


def draw_array(array: NDArray[Any], rule: RuleMap, settings: Settings) -> NDArray[Any]:
    """An array under a rule, of the same kind."""
    if array.ndim not in (2, 3) or array.dtype.kind not in "fu" or not array.size:
        raise FineError(
            f"an array of {array.dtype} and shape {array.shape} is no image: give (h, w) or "
            "(h, w, channels) of uint8, uint16 or floats"
        )
    if array.dtype == np.uint8 and (array.ndim == 2 or array.shape[-1] in (3, 4)):
        return np.asarray(apply_map(Image.fromarray(array), rule, settings))
    layers = array[..., None] if array.ndim == 2 else array
    made = [
        _draw_layer(layers[..., number], share, rule, settings, negated=not is_alpha)
        for number, (share, is_alpha) in enumerate(_grounds(layers.shape[2], settings))
    ]
    return made[0] if array.ndim == 2 else np.stack(made, -1)


def _grounds(channels: int, settings: Settings) -> list[tuple[float, bool]]:
    """Of every channel what is uncovered becomes, in 0..1, and whether it is alpha."""
    has_alpha = channels in (2, 4)
    named = settings.background or ("" if has_alpha else "black")
    colour = colour_of(named) if named else None
    if colour is None:  # transparent, or black where there is no alpha
        return [(0.0, has_alpha and number == channels - 1) for number in range(channels)]
    shades = [grey_of(colour)] if channels < 3 else [colour[n % 3] for n in range(channels)]
    grounds = [(shade / 255, False) for shade in shades[: channels - has_alpha]]
    return [*grounds, (1.0, True)] if has_alpha else grounds


def _draw_layer(
    layer: NDArray[Any], share: float, rule: RuleMap, settings: Settings, *, negated: bool
) -> NDArray[Any]:  # (h, w)
    """One channel of an array of floats, or of 16 bits, drawn as floats."""
    kind = layer.dtype
    white = 1.0 if kind.kind == "f" else float(np.iinfo(kind).max)
    moves, plain = _Moves(rule), replace(settings, background="")

    def moved(ground: float) -> NDArray[np.float32]:
        values = Image.fromarray(layer.astype(np.float32) - np.float32(ground))
        return np.asarray(apply_map(values, moves, plain)) + np.float32(ground)

    drawn = moved(white * share)
    if negated and (rule.negative or rule.partly_negative):
        canvas = make_canvas(rule, Frame(layer.shape[1], layer.shape[0]), settings.canvas)
        points = canvas.points(range(canvas.height), range(canvas.width))
        # What is uncovered keeps its colour: it is drawn as the negative of that.
        drawn = np.where(rule.negative_at(points), white - moved(white * (1 - share)), drawn)
    drawn = drawn.clip(0, white)
    return drawn.astype(kind) if kind.kind == "f" else np.rint(drawn).astype(kind)


def draw_tensor(images: Tensor, rule: RuleMap, settings: Settings) -> Tensor:
    """Every image of a tensor under a rule."""
    if images.ndim < 3 or not images.numel():
        raise FineError(
            f"a tensor of shape {tuple(images.shape)} is no image: give (..., channels, h, w)"
        )
    flat = images.detach().cpu().reshape(-1, *images.shape[-3:])
    drawn = [draw_array(one.movedim(0, -1).numpy(), rule, settings) for one in flat]
    made = torch.stack([torch.from_numpy(one.copy()).movedim(-1, 0) for one in drawn])
    return made.reshape(*images.shape[:-3], *made.shape[-3:]).to(images.device)


@dataclass(frozen=True)
class _Moves:
    """A rule with its negatives left out."""

    rule: RuleMap
    negative: bool = False

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        if not self.rule.partly_negative:
            return self.rule.matrix
        moves = tuple(rule for rule in self.rule.rules if rule.family.name != "black-white")
        return RuleMap(moves).matrix

    def sources(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.rule.sources(points)
