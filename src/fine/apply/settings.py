"""How a result is drawn: on which canvas, how it is resampled, and what is where no image is."""

from dataclasses import dataclass
from typing import Literal, get_args

from PIL import ImageColor

from fine.errors import FineError, unknown

CanvasKind = Literal["keep", "expand"]
Resample = Literal["nearest", "bilinear", "bicubic"]
TRANSPARENT = "transparent"


@dataclass(frozen=True)
class Settings:
    """How results are drawn; the same for all images."""

    canvas: CanvasKind = "keep"
    """keep: the result is as large as the image. expand: as large as all of the moved image, so
    that nothing is cut off."""
    resample: Resample = "bicubic"
    """How values between pixels are found."""
    background: str = ""
    """The colour where the result shows nothing of the image, such as white or #2040ff, or
    transparent. By default it is transparent in an image that has transparency, else black."""

    def __post_init__(self) -> None:
        if self.canvas not in get_args(CanvasKind):
            raise unknown("canvas", self.canvas, get_args(CanvasKind))
        if self.resample not in get_args(Resample):
            raise unknown("resample", self.resample, get_args(Resample))
        colour_of(self.background)  # refuses what is none


def background_of_files(shown: str) -> str:
    """The background for files of an example that shows this one.

    Transparent is then what can be: a JPEG has no transparency, and is no error.
    """
    return "" if shown == TRANSPARENT else shown


def colour_of(background: str) -> tuple[int, int, int] | None:
    """Red, green and blue of a background; None if it is transparent."""
    if background == TRANSPARENT:
        return None
    try:
        red, green, blue, *alpha = ImageColor.getrgb(background or "black")
    except ValueError:
        raise FineError(
            f"background '{background}' is no colour: give one such as white, #2040ff or "
            "transparent"
        ) from None
    if alpha and alpha != [255]:
        raise FineError(
            f"background '{background}' is half transparent: give an opaque colour, or transparent"
        )
    return red, green, blue
