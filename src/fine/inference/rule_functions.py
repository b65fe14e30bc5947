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
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from fine.apply import Progress, Settings, Summary, apply_map, apply_to_files, uncovered_background
from fine.apply.canvas import Canvas, Frame, make_canvas
from fine.apply.settings import CanvasKind, Resample, background_of_files, colour_of
from fine.errors import FineError
from fine.geometry.frame import pixel_maps
from fine.inference.full_images import example_pixels, open_image
from fine.inference.function_files import read_function, write_function
from fine.inference.reading import Source
from fine.inference.registration import Registered, register
from fine.rules import Rule
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
        <function: mirrored left-right, 0.0 % unexplained>
        >>> f @ f
        <function: unchanged, 0.0 % unexplained>
        >>> f.draw(before).shape
        torch.Size([1, 32, 32])
    """

    rule: Registered
    """The rule with its parameters, their standard errors, and what it leaves unexplained."""
    canvas: CanvasKind = "keep"
    """Whether results are as large as the image, or as all of the moved image."""
    background: str = ""
    """The colour of what is uncovered, as the example shows it; empty: black or transparent."""
    allow_unexplained: bool = False
    """Whether the rule is applied although it does not explain the example."""

    def __repr__(self) -> str:
        text = f"{self.rule}, {100 * self.rule.unexplained:.1f} % unexplained"
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
            return self._draw_tensor(image, settings)
        if isinstance(image, np.ndarray):
            return self._draw_array(image, settings)
        return self._draw_image(open_image(image), settings)

    def _settings(
        self, canvas: CanvasKind | None, resample: Resample, background: str | None
    ) -> Settings:
        ground = self.background if background is None else background
        return Settings(canvas or self.canvas, resample, ground)

    def _draw_image(self, image: Image.Image, settings: Settings) -> Image.Image:
        return apply_map(image, self.rule.rule, settings)

    def _draw_array(self, array: NDArray[Any], settings: Settings) -> NDArray[Any]:
        if array.dtype == np.uint8 and (array.ndim == 2 or array.shape[-1] in (3, 4)):
            return np.asarray(self._draw_image(Image.fromarray(array), settings))
        if array.ndim not in (2, 3) or array.dtype.kind not in "fu":
            raise FineError(
                f"an array of {array.dtype} and shape {array.shape} is no image: give (h, w) or "
                "(h, w, channels) of uint8, uint16 or floats"
            )
        layers = array[..., None] if array.ndim == 2 else array
        made = np.stack(
            [self._layer(layers, number, settings) for number in range(layers.shape[2])], -1
        )
        return made[..., 0] if array.ndim == 2 else made

    def _layer(
        self, layers: NDArray[Any], number: int, settings: Settings
    ) -> NDArray[Any]:  # (h, w)
        """One channel of an array of floats, or of 16 bits, drawn as floats."""
        kind = layers.dtype
        white = 1.0 if kind.kind == "f" else float(np.iinfo(kind).max)
        colour = colour_of(settings.background or "black") or (0, 0, 0)
        ground = white * colour[number % 3] / 255 if layers.shape[2] != 4 else 0.0
        values = layers[..., number].astype(np.float32) - np.float32(ground)
        rule = self.rule.rule
        plain = _Plain(rule, negative=False)
        drawn = np.asarray(
            apply_map(Image.fromarray(values), plain, replace(settings, background=""))
        )
        drawn = drawn + np.float32(ground)
        canvas = make_canvas(rule, Frame(layers.shape[1], layers.shape[0]), settings.canvas)
        if rule.negative or rule.partly_negative:
            points = canvas.points(range(canvas.height), range(canvas.width))
            drawn = np.where(rule.negative_at(points), white - drawn, drawn)
        drawn = drawn.clip(0, white)
        return drawn.astype(kind) if kind.kind == "f" else np.rint(drawn).astype(kind)

    def _draw_tensor(self, images: Tensor, settings: Settings) -> Tensor:
        if images.ndim < 3:
            raise FineError(
                f"a tensor of shape {tuple(images.shape)} is no image: give (..., channels, h, w)"
            )
        flat = images.detach().cpu().reshape(-1, *images.shape[-3:])
        drawn = [
            torch.from_numpy(self._draw_array(one.movedim(0, -1).numpy(), settings).copy())
            for one in flat
        ]
        made = torch.stack([one.movedim(-1, 0) for one in drawn])
        return made.reshape(*images.shape[:-2], *made.shape[-2:]).to(images.device)

    def remap(self, height: int, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Which column and which row of an image each pixel of the result is read from.

        As OpenCV wants them: ``cv2.remap(image, *f.remap(*image.shape[:2]), cv2.INTER_LINEAR)``.
        Negatives are not in it: `rule.rule.negative` says whether the result is one.
        """
        self._check_explained()
        if min(height, width) < 1:
            raise FineError(f"an image of {height} × {width} pixels has none: give at least 1 × 1")
        canvas = self._canvas(height, width)
        points = canvas.points(range(canvas.height), range(canvas.width))
        return pixel_maps(self.rule.rule.sources(points), (height, width))

    def _canvas(self, height: int, width: int) -> Canvas:
        return make_canvas(self.rule.rule, Frame(width, height), self.canvas)

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
        if not self.rule.explains and not self.allow_unexplained:
            raise unexplained_error(self.rule)

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
        known = [one.rule for one in given]
        reasons = [one.reason for one in known if one.ambiguous]
        rule = Registered(
            made,
            _propagated(make, known, made),
            max(one.unexplained for one in known),
            bool(reasons),
            "; ".join(dict.fromkeys(reasons)),
        )
        expands = any(one.canvas == "expand" for one in given)
        return replace(
            self,
            rule=rule,
            canvas="expand" if expands else "keep",
            allow_unexplained=any(one.allow_unexplained for one in given),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function as readable JSON; `load_function` reads it."""
        write_function(Path(path), self.rule, self.canvas, self.background)


class NoFormulaError(FineError):
    """Rules that no formula composes; matrices of a model may."""


@dataclass(frozen=True)
class _Plain:
    """A map of points with its negatives left out, or with the whole image negative."""

    rule: RuleMap
    negative: bool

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        if not self.rule.partly_negative:
            return self.rule.matrix
        moves = tuple(rule for rule in self.rule.rules if rule.family.name != "black-white")
        return RuleMap(moves).matrix

    def sources(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.rule.sources(points)


def _propagated(
    make: Callable[[Sequence[RuleMap]], RuleMap | None], known: Sequence[Registered], made: RuleMap
) -> tuple[tuple[float, ...], ...]:
    """Standard errors of a derived rule: how it moves as each parameter moves by its error."""
    total = [np.zeros(len(rule.parameters)) for rule in made.rules]
    for one in {id(one): one for one in known}.values():  # one that is used twice moves twice
        for place, (rule, errors) in enumerate(zip(one.rule.rules, one.errors, strict=True)):
            for position, error in enumerate(errors):
                if not (0 < error < math.inf):
                    continue
                little = 1e-3 * error
                values = list(rule.parameters)
                values[position] += little
                rules = list(one.rule.rules)
                rules[place] = Rule(rule.family, tuple(values))
                maps = [RuleMap(tuple(rules)) if other is one else other.rule for other in known]
                for sums, moves in zip(total, _moves(make(maps), made), strict=True):
                    sums += np.square(moves / 1e-3)
    return tuple(tuple(np.sqrt(sums).tolist()) for sums in total)


def _moves(moved: RuleMap | None, made: RuleMap) -> list[NDArray[np.float64]]:
    """By how much parameters differ; 0 where a rule has got another family."""
    nothing = [np.zeros(len(rule.parameters)) for rule in made.rules]
    if moved is None or [rule.family for rule in moved.rules] != [r.family for r in made.rules]:
        return nothing
    found = []
    for rule, other in zip(moved.rules, made.rules, strict=True):
        moves = np.array(rule.parameters) - np.array(other.parameters)
        if rule.family.name == "rotation":
            moves = (moves + 180) % 360 - 180
        found.append(moves)
    return found


def rule_function(
    x: Sequence[Source], y: Sequence[Source], *, allow_unexplained: bool = False
) -> RuleFunction:
    """The function behind example pairs, by its rule; an error if no rule explains them."""
    if len(x) != len(y) or not x:
        raise FineError(
            f"there are {len(x)} images x and {len(y)} images y: give a y for every x, at least one"
        )
    images = [(open_image(before), open_image(after)) for before, after in zip(x, y, strict=True)]
    pixels = [example_pixels(*pair) for pair in images]
    found = register([pair[0] for pair in pixels], [pair[1] for pair in pixels])
    if not found.explains and not allow_unexplained:
        raise unexplained_error(found)
    before, after = images[0]
    return RuleFunction(
        found,
        _canvas_of(found.rule, before.size, after.size),
        uncovered_background(before, after, found.rule),
        allow_unexplained,
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
    return RuleFunction(found, settings.canvas, settings.background, allow_unexplained=True)


def unexplained_error(found: Registered) -> FineError:
    """The refusal of an example that no rule explains."""
    return FineError(
        f"no known rule explains this example: the nearest, '{found}', leaves "
        f"{100 * found.unexplained:.0f} % of it unexplained; give another example, or "
        "allow_unexplained=True to apply it as far as it goes"
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
        canvas = make_canvas(rule, Frame(*before), "expand")
    except FineError:
        return "keep"
    off = max(abs(canvas.width / after[0] - 1), abs(canvas.height / after[1] - 1))
    return "expand" if off < 0.02 else "keep"
