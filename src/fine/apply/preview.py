"""A contact sheet: a few images and what a map makes of them, before anything is written.

draw_preview(point_map, list_files([Path("photos")], Path("done")), Settings(), "rotation 37°")
"""

import math
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from fine.apply.image import apply_map
from fine.apply.listing import Listing
from fine.apply.photo import read_photo
from fine.apply.settings import Settings
from fine.errors import FineError, printable
from fine.geometry.point_map import PointMap
from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE

COUNT, _COLUMNS = 9, 3
_SIDE, _GAP, _LINE = 220, 14, 24  # pixels: of a thumbnail, between them, of a line of text
_PAPER, _INK, _FAINT, _ALARM = "#f4f5f7", "#16181d", "#5d6470", "#a3261b"
_CHECKS = ("#ffffff", "#d5d9df")  # behind what is transparent
_LONGEST_NAME = 52  # characters


def draw_preview(
    point_map: PointMap, listing: Listing, settings: Settings, title: str
) -> Image.Image:
    """Nine files, evenly chosen, each beside its result; a file that cannot be read says so."""
    sources = list(listing.targets)
    count = min(COUNT, len(sources))
    chosen = [sources[number * len(sources) // count] for number in range(count)]
    cell = (2 * _SIDE + _GAP // 2, _SIDE + _LINE)
    columns, rows = min(_COLUMNS, count), math.ceil(count / _COLUMNS)
    width = columns * (cell[0] + 2 * _GAP)
    height = 2 * _LINE + _GAP + rows * (cell[1] + 2 * _GAP)
    sheet = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP), printable(title)[:120], fill=_INK, font=_font(18))
    with Decoder(FULL_SIZE) as decoder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, source in enumerate(chosen):
            left = _GAP + number % _COLUMNS * (cell[0] + 2 * _GAP)
            top = 2 * _LINE + _GAP + number // _COLUMNS * (cell[1] + 2 * _GAP)
            _draw_cell(sheet, (left, top), source, point_map, settings, decoder)
    return sheet


def _draw_cell(
    sheet: Image.Image,
    corner: tuple[int, int],
    source: Path,
    point_map: PointMap,
    settings: Settings,
    decoder: Decoder,
) -> None:
    left, top = corner
    draw = ImageDraw.Draw(sheet)
    name = printable(source.name)
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
    draw.text((left, top + _SIDE + 4), name, fill=_FAINT, font=_font(13))
    try:
        photo = read_photo(source, decoder)
        photo.format.check_background(settings.background)
        before = photo.image
        before.thumbnail((_SIDE, _SIDE), Image.Resampling.BICUBIC)
        after = apply_map(before, point_map, settings)
    except FineError as problem:
        lines = _wrapped(str(problem).removeprefix(f"{source} "), 30)
        draw.multiline_text((left, top), lines, fill=_ALARM, font=_font(13))
        return
    after.thumbnail((_SIDE, _SIDE), Image.Resampling.BICUBIC)
    _paste(sheet, before, left, top)
    _paste(sheet, after, left + _SIDE + _GAP // 2, top)


def _paste(sheet: Image.Image, image: Image.Image, left: int, top: int) -> None:
    """An image in the middle of its place, on checks where it is transparent."""
    shown = _shown(image)
    place = (left + (_SIDE - image.width) // 2, top + (_SIDE - image.height) // 2)
    if shown.mode == "RGBA":
        sheet.paste(_checks(image.size), place)
        sheet.paste(shown, place, mask=shown.getchannel("A"))
    else:
        sheet.paste(shown, place)


def _shown(image: Image.Image) -> Image.Image:
    """An image as 8-bit RGB or RGBA."""
    if image.mode.startswith("I;16"):
        return image.convert("I").point(lambda value: value * (1 / 257) + 0).convert("RGB")
    if image.mode in ("I", "F"):
        low, high = image.convert("F").getextrema()
        scale = 255 / max(float(high) - float(low), 1e-6)  # type: ignore[arg-type]
        start = float(low)  # type: ignore[arg-type]
        stretched = image.convert("F").point(lambda value: value * scale + (-start * scale))
        return stretched.convert("L").convert("RGB")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _checks(size: tuple[int, int]) -> Image.Image:
    board = Image.new("RGB", size, _CHECKS[0])
    draw = ImageDraw.Draw(board)
    for top in range(0, size[1], 8):
        for left in range(top % 16, size[0], 16):
            draw.rectangle((left, top, left + 7, top + 7), fill=_CHECKS[1])
    return board


def _wrapped(text: str, width: int) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(line[: 2 * width] for line in lines[:8])


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """That of matplotlib, found without importing it: Pillow's own has no ×."""
    found = find_spec("matplotlib")
    places = found.submodule_search_locations if found is not None else None
    for place in places or ():
        file = Path(place) / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
        if file.is_file():
            return ImageFont.truetype(file, size)
    return ImageFont.load_default(size)
