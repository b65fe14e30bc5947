"""An answer without choices: x' under the rule that comes nearest to the composed function.

drawn = draw_answer(model, "x.png", "y.png", "new.png") drawn.image.save("answer.png")           #
at the resolution of new.png; drawn.rules[0] says by which rule
"""

from dataclasses import dataclass

from PIL import Image
from torch import Tensor

from fine.inference.functions import explain
from fine.inference.ground import find_ground
from fine.inference.naming import NamedRule
from fine.inference.reading import Source, border, read_image
from fine.models.paper import FINE
from fine.rules import Rule, apply_rules, rule_set


@dataclass(frozen=True)
class Drawn:
    """An image of the answer, and the rules it was chosen from.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> x, y, new, *choices = puzzles.render([0]).images[0]
        >>> drawn = fine.draw_answer(model, x, y, new, rules="reflection")
        >>> drawn.image.size, len(drawn.rules)
        ((32, 32), 2)
    """

    pixels: Tensor
    """float (channels, side, side) in 0..1: x' under the first of the rules."""
    rules: tuple[NamedRule, ...]
    """Every rule of the set, the most probable first."""

    @property
    def image(self) -> Image.Image:
        """The pixels as a Pillow image."""
        pixels = self.pixels.mul(255).round().byte().movedim(0, -1).numpy()
        return Image.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels)


def draw_answer(model: FINE, x: Source, y: Source, new: Source, *, rules: str = "affine") -> Drawn:
    """What is to ``new`` as y is to x, in the colours and at the resolution of ``new``.

    It is drawn by the rule of a set that explains y best.

    Args:
        model: A model that composes functions, as `load` returns it.
        x: The image of the example: anything that `read_image` takes.
        y: What became of it.
        new: Another image.
        rules: The set of rules to choose from, as `rule_set` takes it.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> drawn = fine.draw_answer(model, "x.png", "y.png", "new.png")  # doctest: +SKIP
        >>> drawn.image.save("answer.png")  # doctest: +SKIP
    """
    named = explain(model, x, y, rules=rules, k=len(rule_set(rules)))
    return Drawn(under_rule(read_image(new), named[0].rule), named)


def under_rule(image: Tensor, rule: Rule) -> Tensor:  # (channels, side, side), same
    """An image under a rule. What is uncovered has the colour of its ground, or is black."""
    background = None
    if bool(find_ground(image[None, None]).there):
        background = border(image).median(dim=1).values
    return apply_rules(image, [rule], background=background).clamp(0, 1)
