"""Modes of Pillow images: in which of them an image is warped, and how it gets back to its own.

    prepared = prepare(image, settings)
    warped = …(prepared.image, fill=prepared.fill)
    result = prepared.finish(warped, negative=False)

Between pixels of a palette there are no colours, so such an image becomes RGB. Transparent colours
are weighted with their alpha, or the invisible colour of a transparent ground would seep into the
drawing. Pillow interpolates 16 bits as 32.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image, ImageChops

from fine.apply.settings import Settings, colour_of
from fine.errors import FineError

Fill = int | tuple[int, ...]

_WEIGHTED = {"LA": "La", "RGBA": "RGBa"}
_PLAIN = {"1", "L", "LA", "RGB", "RGBA", "CMYK", "I;16", "I", "F"}
_WITH_ALPHA = {"L": "LA", "RGB": "RGBA", "LA": "LA", "RGBA": "RGBA", "1": "LA"}
_RED, _GREEN, _BLUE = 299, 587, 114  # thousandths of the brightness, ITU-R 601
_WHITE_16 = 65_535


@dataclass(frozen=True)
class Prepared:
    """An image in the mode that it is warped in."""

    image: Image.Image
    mode: str
    """The mode of the result."""
    fill: Fill
    """What is where no image is, in the mode of ``image`` and before a negative is made."""

    def finish(self, warped: Image.Image, *, negative: bool) -> Image.Image:
        """The warped image in the mode of the result, and as its negative if that is asked for."""
        if self.mode == "I;16" and negative:
            warped = warped.point(lambda value: value * -1 + _WHITE_16)
        if self.mode == "1":
            warped = warped.point(lambda value: 255 * (value >= 128))
        if warped.mode != self.mode:
            warped = warped.convert(self.mode, dither=Image.Dither.NONE)
        return _NEGATIVES[self.mode](warped) if negative else warped


def prepare(image: Image.Image, settings: Settings, *, negative: bool) -> Prepared:
    """An image as it is warped, and the fill for what is uncovered."""
    plain = _plain(image)
    colour = colour_of(settings.background)
    has_alpha = plain.mode in _WEIGHTED
    if has_alpha and not settings.background:
        colour = None
    if colour is None and not has_alpha:
        if plain.mode not in _WITH_ALPHA:
            raise FineError(
                f"an image of mode {plain.mode} cannot be transparent: give another background"
            )
        plain = plain.convert(_WITH_ALPHA[plain.mode])
    if plain.mode in ("I", "F") and (negative or any(colour or ())):
        raise FineError(
            f"an image of mode {plain.mode} has 32 bits a pixel, which have no known white: it "
            "cannot become its negative, and its background is black"
        )
    if colour is not None and negative:
        red, green, blue = colour
        colour = (255 - red, 255 - green, 255 - blue)
    fill = _fill(plain.mode, colour)
    return Prepared(_to_warp(plain, settings.resample), plain.mode, fill)


def _plain(image: Image.Image) -> Image.Image:
    """The image in one of the modes that there is a result in."""
    mode = image.mode
    if mode.startswith("I;16"):
        return image if mode == "I;16" else image.convert("I").convert("I;16")
    if mode in ("La", "RGBa"):
        return image.convert(mode.upper())
    if mode in ("P", "PA"):
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    if mode == "RGBX":
        return image.convert("RGB")
    if mode not in _PLAIN:
        raise FineError(f"an image of mode {mode} cannot be drawn: save it as RGB")
    if mode in ("1", "L", "RGB") and image.has_transparency_data:
        return image.convert("RGBA") if mode == "RGB" else image.convert("L").convert("LA")
    return image


def _to_warp(plain: Image.Image, resample: str) -> Image.Image:
    if plain.mode == "I;16":
        return plain.convert("I")
    if plain.mode == "1":
        return plain.convert("L")
    if resample == "nearest":  # nothing is mixed, so nothing need be weighted
        return plain
    weighted = _WEIGHTED.get(plain.mode)
    return plain if weighted is None else plain.convert(weighted)


def grey_of(colour: tuple[int, int, int]) -> int:
    """The brightness of a colour, from 0 to 255."""
    red, green, blue = colour
    return (_RED * red + _GREEN * green + _BLUE * blue + 500) // 1000


def _fill(mode: str, colour: tuple[int, int, int] | None) -> Fill:
    """A colour in a mode; None is transparent."""
    if colour is None:
        return (0, 0) if mode == "LA" else (0, 0, 0, 0)
    red, green, blue = colour
    grey = grey_of(colour)
    fills: dict[str, Fill] = {
        "1": 255 * (grey >= 128),
        "L": grey,
        "LA": (grey, 255),
        "RGB": colour,
        "RGBA": (*colour, 255),
        "CMYK": (255 - red, 255 - green, 255 - blue, 0),
        "I;16": grey * 257,
        "I": grey,
        "F": grey,
    }
    return fills[mode]


def _with_own_alpha(image: Image.Image) -> Image.Image:
    *colours, alpha = image.split()
    return Image.merge(image.mode, [*map(ImageChops.invert, colours), alpha])


def _by_way_of_rgb(image: Image.Image) -> Image.Image:
    """Of inks: the complement of each would not be the complement of their colour."""
    return ImageChops.invert(image.convert("RGB")).convert("CMYK")


def _already(image: Image.Image) -> Image.Image:
    return image


_NEGATIVES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "1": ImageChops.invert,
    "L": ImageChops.invert,
    "RGB": ImageChops.invert,
    "LA": _with_own_alpha,
    "RGBA": _with_own_alpha,
    "CMYK": _by_way_of_rgb,
    "I;16": _already,
}
