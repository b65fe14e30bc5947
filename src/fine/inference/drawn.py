"""An answer without choices: x' under the rule that comes nearest to the composed function.

drawn = draw_answer(model, "x.png", "y.png", "new.png")
drawn.image.save("answer.png")         # at the resolution of new.png
drawn.rules[0]                         # by which rule
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image
from torch import Tensor

from fine.inference.functions import explain
from fine.inference.ground import find_ground
from fine.inference.naming import NamedRule
from fine.inference.puzzle_images import Hints, hint_lists
from fine.inference.reading import Source, border, read_images, squared
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
    """float (channels, h, w) in 0..1: x' under the first of the rules."""
    rules: tuple[NamedRule, ...]
    """Every rule of the set, the most probable first."""

    @property
    def image(self) -> Image.Image:
        """The pixels as a Pillow image."""
        pixels = self.pixels.mul(255).round().byte().movedim(0, -1).numpy()
        return Image.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels)


def draw_answer(
    model: FINE, x: Hints, y: Hints, new: Source, *, rules: str = "affine", verify: bool = True
) -> Drawn:
    """What is to ``new`` as y is to x, in the colours, shape and resolution of ``new``.

    It is drawn by the rule of a set that explains y best.

    Args:
        model: A model that composes functions, as `load` returns it.
        x: The image of the example, anything that `read_image` takes; or several, one for each
            hint.
        y: What became of it, or of each of them.
        new: Another image.
        rules: The set of rules to choose from, as `rule_set` takes it.
        verify: Whether a rule that takes the pixels of x to those of y is preferred.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> drawn = fine.draw_answer(model, "x.png", "y.png", "new.png")  # doctest: +SKIP
        >>> drawn.image.save("answer.png")  # doctest: +SKIP
    """
    before, after = hint_lists(x, y)
    *pairs, shown = read_images([*before, *after, new])  # on one paper
    count = len(before)
    names = explain(
        model, pairs[:count], pairs[count:], rules=rules, k=len(rule_set(rules)) + 1, verify=verify
    )
    return Drawn(under_rules(shown, names[0].rules), names)


def under_rules(image: Tensor, rules: Sequence[Rule]) -> Tensor:  # (channels, h, w), same
    """An image under rules, the first one first, in its own shape.

    What is uncovered has the colour of its ground, or is black.
    """
    height, width = image.shape[1:]
    (square,) = squared([image])
    background = None
    if bool(find_ground(square[None, None]).there):
        background = border(square).median(dim=1).values
    made = apply_rules(square, rules, background=background).clamp(0, 1)
    top, left = (made.shape[1] - height) // 2, (made.shape[2] - width) // 2
    return made[:, top : top + height, left : left + width]
