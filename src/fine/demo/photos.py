"""Photographs of visitors at their own size: read within limits, drawn, written as PNG or JPEG.

Input is not trusted: its length is checked before it is decoded, its size before its pixels are.
All of it happens in memory.
"""

import base64
import binascii
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from fine.apply.canvas import Frame, make_canvas
from fine.apply.file_format import FileFormat, file_format
from fine.apply.settings import background_of_files
from fine.errors import FineError
from fine.images.decoding import Decoder, upright
from fine.images.limits import Limits, TooCostlyError
from fine.inference import RuleFunction, function

LIMITS = Limits(
    file=15_000_000, pixels=25_000_000, scanned=250_000_000, seconds=4, memory=1_000_000_000
)
"""What one photograph may cost; phones make 12 or 24 megapixels."""
LONGEST_PHOTO = 4 * LIMITS.file // 3 + 100
"""Characters of a photograph as a data URL."""
MOST_PHOTOS = 8
"""Photographs besides the example."""
MOST_PIXELS = 80_000_000
"""Pixels of all images of a request: they take about ten seconds."""
MOST_DRAWN = 50_000_000
"""Pixels of one result, which may be larger than the image."""
_PREFIX = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,")


@dataclass(frozen=True)
class Photo:
    """A photograph that has been read, the right way up, and how its result is written."""

    image: Image.Image
    format: FileFormat


@dataclass(frozen=True)
class Result:
    """A photograph under the function: its URL and size, or what was wrong with it."""

    url: str = ""
    size: tuple[int, int] = (0, 0)
    error: str = ""


def show_once(
    before: str, after: str, photos: Sequence[str], *, anyway: bool
) -> tuple[RuleFunction, list[Result]]:
    """The function behind an example, and what it makes of photographs.

    If no rule explains the example nothing is drawn, unless it is to be drawn ``anyway``. A
    photograph that cannot be drawn stops no other.
    """
    with Decoder(LIMITS) as decoder:
        pair = [_read(text, name, decoder) for text, name in ((before, "before"), (after, "after"))]
        shown = [photo.image for photo in pair]
        found = function(shown[0], shown[1], anyway=True)
        if not (found.rule.explains or anyway):
            return found, []
        room = MOST_PIXELS - sum(image.width * image.height for image in shown)
        results = []
        for number, text in enumerate(photos, start=1):
            try:
                photo = _read(text, f"image {number}", decoder)
                room -= photo.image.width * photo.image.height
                if room < 0:
                    raise FineError(
                        f"these images have more than {MOST_PIXELS // 1_000_000} megapixels "
                        "together: send fewer at a time"
                    )
                results.append(_drawn(found, photo))
            except FineError as problem:
                results.append(Result(error=str(problem)))
    return found, results


def _read(text: str, name: str, decoder: Decoder) -> Photo:
    prefix = _PREFIX.match(text)
    try:
        content = base64.b64decode(text[prefix.end() if prefix else 0 :], validate=True)
    except (binascii.Error, ValueError) as problem:
        raise FineError(
            f"{name} is not base64: send an image as a data URL, or its bytes as base64"
        ) from problem
    try:
        stored, orientation = decoder.decode_stored(content)
        return Photo(upright(stored, orientation), _format_of(stored, content))
    except TooCostlyError as problem:
        raise FineError(f"{name} {problem}: send a smaller one") from None
    except Exception as problem:  # Pillow's readers raise errors of a dozen kinds for broken files
        raise FineError(
            f"{name} is not an image that can be read: send a PNG, JPEG, WebP, GIF or BMP"
        ) from problem


def _format_of(stored: Image.Image, content: bytes) -> FileFormat:
    """JPEG stays JPEG, with its quality; all else becomes PNG, which loses nothing."""
    kept = file_format(stored, content)
    if kept.name in ("JPEG", "PNG"):
        return kept
    profile = {key: value for key, value in kept.options.items() if key == "icc_profile"}
    return FileFormat("PNG", profile)


def _drawn(found: RuleFunction, photo: Photo) -> Result:
    canvas = make_canvas(found.rule.rule, Frame(*photo.image.size), found.canvas)
    if canvas.width * canvas.height > MOST_DRAWN:
        raise FineError(
            f"its result would have {canvas.width:,} × {canvas.height:,} pixels: send a smaller one"
        )
    image = found.draw(photo.image, background=background_of_files(found.background))
    file = io.BytesIO()
    photo.format.save(image, file)
    kind = photo.format.name.lower()
    text = base64.b64encode(file.getvalue()).decode("ascii")
    return Result(f"data:image/{kind};base64,{text}", image.size)
