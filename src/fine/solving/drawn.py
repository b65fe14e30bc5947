"""An answer without choices: x' under every rule of a set, and of these the one the model takes.

drawn = draw_answer(model, "x.png", "y.png", "new.png")
drawn.image.save("answer.png")                     # at the resolution of new.png; drawn.rules[0] says by which rule
"""

from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from fine.models.fine import FINE
from fine.rules import HALF, Rule, negative_mask, rule_set, source_points
from fine.solving.answers import prepared
from fine.solving.ink import find_ground
from fine.solving.naming import NamedRule, distinct_rules, logits_of_rules, ranked
from fine.solving.pictures import Source, border, read_picture


@dataclass(frozen=True)
class Drawn:
    """A picture of the answer, and the rules it was chosen from."""

    picture: Tensor
    """float (channels, side, side) in 0..1: x' under the first of the rules."""
    rules: tuple[NamedRule, ...]
    """Every rule of the set, the most probable first."""

    @property
    def image(self) -> Image.Image:
        """The picture as a Pillow image."""
        pixels = self.picture.mul(255).round().byte().movedim(0, -1).numpy()
        return Image.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels)


@torch.inference_mode()
def draw_answer(model: FINE, x: Source, y: Source, new: Source, *, rules: str = "affine") -> Drawn:
    """What is to ``new`` as y is to x, drawn in the colours and at the resolution of ``new``."""
    model.eval()
    pictures = prepared(model, [x, y, new])
    warp, members = distinct_rules(rule_set(rules), model.size, pictures.device)
    # A rule that does to x' what the function does should do so to x as well: two witnesses are better than one.
    example, result = model.encode(pictures[None, :2])[0].split(1)
    function = partial(model.apply_function, model.compose(example, result))
    logits = logits_of_rules(model, function, pictures[2], warp) + logits_of_rules(model, function, pictures[0], warp)
    best = members[int(logits.argmax())]
    return Drawn(under_rule(read_picture(new), best), ranked(members, logits.softmax(0)))


def under_rule(picture: Tensor, rule: Rule) -> Tensor:  # (channels, side, side), the same out
    """A picture under a rule, where what is uncovered has the colour of its ground, or is black if it has none."""
    side = picture.shape[-1]
    colour = border(picture).median(dim=1).values if bool(find_ground(picture[None, None]).there) else torch.zeros(len(picture))
    ground = colour[:, None, None]
    points = (source_points(rule, side) / HALF).float()[None]
    moved = F.grid_sample((picture - ground)[None], points, mode="bilinear", padding_mode="zeros", align_corners=False)[0]
    moved = (moved + ground).clamp(0, 1)
    return torch.where(negative_mask(rule, side), 1 - moved, moved)
