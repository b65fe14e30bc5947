"""Functions that are known by their rule: drawn at full size, composed, inverted, saved.

    f = rule_function("before.jpg", "after.jpg")      # fine.function without a model is this
    f.rule                                            # rotation 37.2° ± 0.2
    f.draw("new.jpg").save("answer.jpg")              # at the size and shape of new.jpg
    f @ g, f.inverse(), f.power(2), f.interpolate(g, 0.5), f.save("turn.json")

It is also a transform as torchvision has them, f(image), and a grid for OpenCV, f.remap(h, w).
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fine.apply import Progress, Settings, Summary, apply_map, apply_to_files, uncovered_background
from fine.apply.canvas import Frame, make_canvas
from fine.apply.settings import CanvasKind, Resample, background_of_files
from fine.errors import FineError
from fine.geometry.frame import pixel_maps
from fine.inference.full_images import example_pixels, open_image
from fine.inference.function_files import read_function, write_function
from fine.inference.reading import Source
from fine.inference.registration import Registered, register
from fine.inference.rule_drawing import draw_array, draw_tensor
from fine.inference.rule_errors import derived
from fine.rules.algebra import between, composed, inverse, power
from fine.rules.rule_map import RuleMap

MOST_TIMES = 1000
"""The highest power of a function."""


@dataclass(frozen=True, eq=False)
class RuleFunction:
    """A function on images that is known by its rule.

    `function` makes it, without a model; `load_function` reads it from a file.

    Examples:
        >>> import fine, numpy
        >>> before = fine.load_images("glyphs").pixels[160]
        >>> f = fine.function(before, before.flip(-1))
        >>> f
        <function: mirrored left-right, residual 0.0 %>
        >>> f @ f
        <function: unchanged, residual 0.0 %>
        >>> f.draw(before).shape
        torch.Size([1, 32, 32])
    """

    rule: Registered
    """The rule with its parameters, their standard errors, and its residual."""
    canvas: CanvasKind = "keep"
    """Whether results are as large as the image, or as all of the moved image."""
    background: str = ""
    """The colour of what is uncovered, as the example shows it; empty: black or transparent."""
    anyway: bool = False
    """Whether the rule is applied although it does not explain the example."""
    note: str = ""
    """What the example shows and results will not: that it was cropped."""

    def __repr__(self) -> str:
        text = f"{self.rule}, residual {100 * self.rule.residual:.1f} %"
        if self.rule.ambiguous:
            text += f", ambiguous: {self.rule.reason}"
        return f"<function: {text}>"

    # Images

    def __call__(self, image: Source) -> Any:
        """The same as `draw`, so that a function is a transform as torchvision has them."""
        return self.draw(image)

    def draw(
        self,
        image: Source,
        *,
        canvas: CanvasKind | None = None,
        resample: Resample = "bicubic",
        background: str | None = None,
    ) -> Any:
        """What the function makes of an image, at its full size and shape.

        Args:
            image: A path, bytes or a Pillow image, of which a Pillow image is made; an array
                (h, w) or (h, w, channels) or a tensor (..., channels, h, w), of which the same is
                made.
            canvas: keep or expand; by default what the example shows.
            resample: nearest, bilinear or bicubic.
            background: The colour of what is uncovered; by default that of the example.
        """
        self._check_explained()
        settings = self._settings(canvas, resample, background)
        if isinstance(image, Tensor):
            return draw_tensor(image, self.rule.rule, settings)
        if isinstance(image, np.ndarray):
            return draw_array(image, self.rule.rule, settings)
        return apply_map(open_image(image), self.rule.rule, settings)

    def _settings(
        self, canvas: CanvasKind | None, resample: Resample, background: str | None
    ) -> Settings:
        ground = self.background if background is None else background
        return Settings(canvas or self.canvas, resample, ground)

    def remap(self, height: int, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Which column and which row of an image each pixel of the result is read from.

        As OpenCV wants them: ``cv2.remap(image, *f.remap(*image.shape[:2]), cv2.INTER_LINEAR)``.
        Negatives are not in it: `rule.rule.negative` says whether the result is one.
        """
        self._check_explained()
        if min(height, width) < 1:
            raise FineError(f"an image of {height} × {width} pixels has none: give at least 1 × 1")
        canvas = make_canvas(self.rule.rule, Frame(width, height), self.canvas)
        points = canvas.points(range(canvas.height), range(canvas.width))
        return pixel_maps(self.rule.rule.sources(points), (height, width))

    def apply(
        self,
        images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        out: str | os.PathLike[str],
        *,
        canvas: CanvasKind | None = None,
        resample: Resample = "bicubic",
        background: str | None = None,
        overwrite: bool = False,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Summary:
        """Draw files and folders of files into a folder, as `fine apply` does.

        Args:
            images: A file or a folder, or several.
            out: The folder for results. Their names mirror the input; what is there stays.
            canvas: keep or expand; by default what the example shows.
            resample: nearest, bilinear or bicubic.
            background: The colour of what is uncovered; by default that of the example.
            overwrite: Whether to replace results that are there.
            jobs: Images to work on at a time; by default, one for each core.
            progress: Called with how many images are done, how many there are, and the last one.
        """
        self._check_explained()
        given = [images] if isinstance(images, str | os.PathLike) else images
        if background is None:
            background = background_of_files(self.background)
        summary = apply_to_files(
            self.rule.rule,
            [Path(one) for one in given],
            Path(out),
            self._settings(canvas, resample, background),
            name=str(self.rule),
            overwrite=overwrite,
            jobs=jobs,
            progress=progress,
        )
        if summary.stopped:
            raise KeyboardInterrupt  # now that all files are whole
        return summary

    def _check_explained(self) -> None:
        if not self.rule.explains and not self.anyway:
            raise refusal(self.rule)

    # Algebra

    def inverse(self) -> "RuleFunction":
        """The function that undoes this one."""
        return self._derived(lambda rules: inverse(rules[0]), [self], "has no inverse by a formula")

    def __matmul__(self, first: "RuleFunction") -> "RuleFunction":
        """``g @ f`` is f, and then g."""
        if not isinstance(first, RuleFunction):
            return NotImplemented
        return self._derived(lambda rules: composed(*rules), [first, self], "")

    def power(self, times: float) -> "RuleFunction":
        """The function so many times; 1/2 is the square root and −1 the inverse."""
        if not abs(times) <= MOST_TIMES:
            raise FineError(f"power {times}: give a number from −{MOST_TIMES} to {MOST_TIMES}")
        reason = f"has no power of {times:g} by a formula"
        return self._derived(lambda rules: power(rules[0], times), [self], reason)

    def interpolate(self, other: "RuleFunction", share: float) -> "RuleFunction":
        """Between this function (share 0) and another (share 1)."""
        if not math.isfinite(share):
            raise FineError(f"share is {share}: give a number, such as 0.5 for halfway")
        reason = f"has nothing known between it and '{other.rule}'"
        return self._derived(
            lambda rules: between(rules[0], rules[1], share), [self, other], reason
        )

    def _derived(
        self,
        make: Callable[[Sequence[RuleMap]], RuleMap | None],
        given: Sequence["RuleFunction"],
        reason: str,
    ) -> "RuleFunction":
        """A function made from the rules of others, with the errors that follow from theirs."""
        made = make([one.rule.rule for one in given])
        if made is None:
            raise NoFormulaError(
                f"'{self.rule}' {reason}: functions composed by a model (model=…) fall back on "
                "matrices of embeddings here"
            )
        rule = derived(make, [one.rule for one in given], made)
        expands = any(one.canvas == "expand" for one in given)
        return replace(
            self,
            rule=rule,
            canvas="expand" if expands else "keep",
            anyway=any(one.anyway for one in given),
            note="",
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function as readable JSON; `load_function` reads it."""
        write_function(Path(path), self.rule, self.canvas, self.background)


class NoFormulaError(FineError):
    """Rules that no formula composes; matrices of a model may."""


def rule_function(
    x: Sequence[Source], y: Sequence[Source], *, anyway: bool = False
) -> RuleFunction:
    """The function behind example pairs, by its rule; an error if no rule explains them."""
    if len(x) != len(y) or not x:
        raise FineError(
            f"there are {len(x)} images x and {len(y)} images y: give a y for every x, at least one"
        )
    images = [(open_image(before), open_image(after)) for before, after in zip(x, y, strict=True)]
    pixels = [example_pixels(*pair) for pair in images]
    found = register([pair[0] for pair in pixels], [pair[1] for pair in pixels])
    if not found.explains and not anyway:
        raise refusal(found)
    before, after = images[0]
    canvas = _canvas_of(found.rule, before.size, after.size)
    return RuleFunction(
        found,
        canvas,
        uncovered_background(before, after, found.rule),
        anyway,
        _note_of(found.rule, canvas, before.size, after.size),
    )


def load_function(path: str | os.PathLike[str]) -> RuleFunction:
    """A function that was saved.

    Args:
        path: A JSON file, as `RuleFunction.save` writes it.

    Examples:
        >>> import fine
        >>> f = fine.load_function("turn.json")  # doctest: +SKIP
        >>> f.draw("new.jpg").save("answer.jpg")  # doctest: +SKIP
    """
    found, settings = read_function(Path(path))
    # Whoever saved it has decided that the rule is to be applied.
    return RuleFunction(found, settings.canvas, settings.background, anyway=True)


def refusal(found: Registered) -> FineError:
    """The refusal of an example that no rule explains."""
    return FineError(
        f"no known rule explains this example: {found.shortfall}; give another example, or "
        "anyway=True to apply it as far as it goes"
    )


def _canvas_of(rule: RuleMap, before: tuple[int, int], after: tuple[int, int]) -> CanvasKind:
    """Whether the frame of an example was kept, or made as large as all of the moved image."""
    if rule.matrix is None:
        return "keep"
    linear = np.abs(rule.matrix[:, :2])
    if np.abs(linear - np.eye(2)[::-1]).max() < 1e-9:
        return "expand"  # a quarter turn, after which an upright photograph lies on its side
    if before == after:
        return "keep"
    try:
        return "expand" if _makes_size(rule, "expand", before, after) else "keep"
    except FineError:
        return "keep"


def _makes_size(
    rule: RuleMap, kind: CanvasKind, before: tuple[int, int], after: tuple[int, int]
) -> bool:
    """Whether a canvas is as large as the after of an example, up to rounding."""
    canvas = make_canvas(rule, Frame(*before), kind)
    return max(abs(canvas.width / after[0] - 1), abs(canvas.height / after[1] - 1)) < 0.02


def _note_of(
    rule: RuleMap, canvas: CanvasKind, before: tuple[int, int], after: tuple[int, int]
) -> str:
    """What to say of an example that shows no change, or whose size neither canvas makes."""
    if rule.is_identity:
        return "no rule moves anything in this example: results will be copies"
    if _makes_size(rule, canvas, before, after):
        return ""
    size = f"{after[0]:,} × {after[1]:,}"
    return f"the after has a frame of its own, {size} pixels: results will not be cropped like that"
