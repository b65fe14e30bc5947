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
from fine.apply.settings import colour_of
from fine.errors import FineError
from fine.rules.rule_map import RuleMap


def draw_array(array: NDArray[Any], rule: RuleMap, settings: Settings) -> NDArray[Any]:
    """An array under a rule, of the same kind."""
    if array.dtype == np.uint8 and (array.ndim == 2 or array.shape[-1] in (3, 4)):
        return np.asarray(apply_map(Image.fromarray(array), rule, settings))
    if array.ndim not in (2, 3) or array.dtype.kind not in "fu":
        raise FineError(
            f"an array of {array.dtype} and shape {array.shape} is no image: give (h, w) or "
            "(h, w, channels) of uint8, uint16 or floats"
        )
    layers = array[..., None] if array.ndim == 2 else array
    made = [_draw_layer(layers, number, rule, settings) for number in range(layers.shape[2])]
    return made[0] if array.ndim == 2 else np.stack(made, -1)


def _draw_layer(
    layers: NDArray[Any], number: int, rule: RuleMap, settings: Settings
) -> NDArray[Any]:  # (h, w)
    """One channel of an array of floats, or of 16 bits, drawn as floats."""
    kind = layers.dtype
    white = 1.0 if kind.kind == "f" else float(np.iinfo(kind).max)
    colour = colour_of(settings.background or "black") or (0, 0, 0)
    ground = np.float32(white * colour[number % 3] / 255 if layers.shape[2] != 4 else 0.0)
    values = layers[..., number].astype(np.float32) - ground
    moved = apply_map(Image.fromarray(values), _Moves(rule), replace(settings, background=""))
    drawn = np.asarray(moved) + ground
    if rule.negative or rule.partly_negative:
        canvas = make_canvas(rule, Frame(layers.shape[1], layers.shape[0]), settings.canvas)
        points = canvas.points(range(canvas.height), range(canvas.width))
        drawn = np.where(rule.negative_at(points), white - drawn, drawn)
    drawn = drawn.clip(0, white)
    return drawn.astype(kind) if kind.kind == "f" else np.rint(drawn).astype(kind)


def draw_tensor(images: Tensor, rule: RuleMap, settings: Settings) -> Tensor:
    """Every image of a tensor under a rule."""
    if images.ndim < 3:
        raise FineError(
            f"a tensor of shape {tuple(images.shape)} is no image: give (..., channels, h, w)"
        )
    flat = images.detach().cpu().reshape(-1, *images.shape[-3:])
    drawn = [draw_array(one.movedim(0, -1).numpy(), rule, settings) for one in flat]
    made = torch.stack([torch.from_numpy(one.copy()).movedim(-1, 0) for one in drawn])
    return made.reshape(*images.shape[:-2], *made.shape[-2:]).to(images.device)


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
