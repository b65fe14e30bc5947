"""One image file under a map: read within limits, drawn, written whole or not at all.

with Decoder(FULL_SIZE) as decoder:
    notes = apply_to_file(Path("a.jpg"), Path("done/a.jpg"), point_map, settings, decoder)
"""

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from fine.apply.file_format import FileFormat, file_format
from fine.apply.image import apply_map
from fine.apply.settings import Settings
from fine.errors import FineError
from fine.geometry.point_map import PointMap
from fine.images.decoding import Decoder, upright
from fine.images.limits import FULL_SIZE, TooCostlyError
from fine.io.files import written_whole
from fine.io.untrusted import read_bytes


@dataclass(frozen=True)
class Photo:
    """An image file that has been read."""

    image: Image.Image
    """Rotated as its EXIF data says."""
    format: FileFormat


def apply_to_file(
    source: Path, target: Path, point_map: PointMap, settings: Settings, decoder: Decoder
) -> tuple[str, ...]:
    """Draw the result of one file into another; what could not be kept is returned as notes."""
    photo = read_photo(source, decoder)
    kept = photo.format
    try:
        kept.check_background(settings.background)
        result = apply_map(photo.image, point_map, settings)
        del photo  # a large one takes 400 MB
        with written_whole(target) as temporary:
            kept.save(result, temporary)
    except FineError as problem:
        if str(source) in str(problem) or str(target) in str(problem):
            raise
        raise FineError(f"{source}: {problem}") from problem
    return kept.notes


def read_photo(path: Path, decoder: Decoder) -> Photo:
    """An image file at full size, with what is to be kept of it."""
    try:
        content = read_bytes(path, largest=FULL_SIZE.file, expected="an image")
        if not content:
            raise FineError(f"{path} is empty (0 bytes): expected an image")
        stored, orientation = decoder.decode_stored(content)
        if stored.format != "MPO" and _is_animated(stored, content):
            raise FineError(f"{path} has several frames or pages: only single images are done")
        kept = file_format(stored, content)
        return Photo(upright(stored, orientation), kept)
    except FineError:
        raise
    except FileNotFoundError:
        raise FineError(f"{path} is missing: expected an image there") from None
    except IsADirectoryError:
        raise FineError(f"{path} is a folder: expected an image") from None
    except PermissionError as problem:
        raise FineError(f"{path} cannot be read ({problem.strerror})") from problem
    except TooCostlyError as problem:
        raise FineError(f"{path} {problem}") from None
    except Exception as problem:  # Pillow's readers raise errors of a dozen kinds for broken files
        raise FineError(f"{path} is not an image that can be read") from problem


def _is_animated(stored: Image.Image, content: bytes) -> bool:
    if stored.format == "GIF":  # it is told by looking for a second frame
        stored = Image.open(io.BytesIO(content), formats=["GIF"])
    return bool(stored.info.get("is_animated", getattr(stored, "is_animated", False)))
