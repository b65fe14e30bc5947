"""A process that decodes images for confined.py, within limits that the system enforces.

    python confined_worker.py TIFF,AVIF 50000000 4 1000000000     # formats, pixels, seconds, bytes

It reads the length of a file (8 bytes) and the file from standard input, and answers with a line of
JSON and the bytes of the pixels. It goes on until its input ends, or the system ends it. It imports
nothing of this package, which would take longer than most images.
"""

import base64
import io
import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

from PIL import Image, Jpeg2KImagePlugin, TiffImagePlugin  # noqa: F401 - they register themselves

try:
    from PIL import AvifImagePlugin
except ImportError:  # not every version of Pillow has it
    AvifImagePlugin = None  # type: ignore[assignment]
try:
    import resource
except ImportError:  # Windows has no limits for a process
    resource = None  # type: ignore[assignment]

_ORIENTATION = 0x0112
_BITS = 258  # a tag of TIFF: bits of a value, channel by channel
_BAND = 1_000_000  # pixels that are sent at a time
_LARGEST_INFO = 10_000_000  # bytes of one profile; those of printers have a few megabytes


def main() -> None:
    """Answer until the input ends."""
    pixel_limit, seconds, memory = map(int, sys.argv[2:])
    Image.preinit()
    formats = [name for name in sys.argv[1].split(",") if name in Image.OPEN]
    warnings.simplefilter("ignore")  # of odd metadata
    if AvifImagePlugin:
        AvifImagePlugin.DEFAULT_MAX_THREADS = 1
    if resource:
        _limit(resource.RLIMIT_AS, memory)
    while length := sys.stdin.buffer.read(8):
        file = io.BytesIO(sys.stdin.buffer.read(int.from_bytes(length, "little")))
        if resource:
            _limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds))
        for part in _answer(file, formats, pixel_limit):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()


def _limit(kind: int, value: int) -> None:
    """Set a limit of this process, unless it has a lower one already."""
    _, highest = resource.getrlimit(kind)
    lowest = value if highest == resource.RLIM_INFINITY else min(value, highest)
    resource.setrlimit(kind, (lowest, highest))


def _answer(file: io.BytesIO, formats: list[str], pixel_limit: int) -> Iterator[bytes]:
    """What the first image in a file is, as a line; and its pixels, row by row."""
    try:
        image = Image.open(file, formats=formats)
        if image.width * image.height > pixel_limit:
            yield _line({"too_large": True})
            return
        image.load()
        file.close()  # it may be as large as the image
        about, row = _about(image), _rows(image, 0, 1)
    except Image.DecompressionBombError:
        yield _line({"too_large": True})
    except MemoryError:
        yield _line({"no_memory": True})
    except Exception as problem:
        yield _line({"broken": str(problem)})
    else:
        yield _line({**about, "length": len(row) * image.height})
        step = max(1, _BAND // image.width)
        for top in range(0, image.height, step):
            yield _rows(image, top, min(top + step, image.height))


def _about(image: Image.Image) -> dict[str, Any]:
    palette_mode = image.palette.mode if image.palette else ""
    return {
        "mode": image.mode,
        "size": image.size,
        "palette_mode": palette_mode,
        "palette": image.getpalette(palette_mode) if palette_mode else [],
        "orientation": int(image.getexif().get(_ORIENTATION, 1)),
        "format": image.format,
        "info": _info(image),
        "encoded_info": _encoded_info(image),
    }


def _info(image: Image.Image) -> dict[str, Any]:
    """What else the file says about its image, for who writes it again."""
    info: dict[str, Any] = {"is_animated": bool(getattr(image, "is_animated", False))}
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        info["bits"] = max(image.tag_v2.get(_BITS, (1,)))
    if isinstance(image.info.get("compression"), str):
        info["compression"] = image.info["compression"]
    if "dpi" in image.info:
        info["dpi"] = [float(value) for value in image.info["dpi"]]
    return info


def _encoded_info(image: Image.Image) -> dict[str, str]:
    """Profiles of the image, which are bytes."""
    profiles = {name: image.info.get(name) for name in ("icc_profile", "exif", "xmp")}
    return {
        name: base64.b64encode(content).decode()
        for name, content in profiles.items()
        if isinstance(content, bytes) and 0 < len(content) <= _LARGEST_INFO
    }


def _rows(image: Image.Image, top: int, bottom: int) -> bytes:
    return image.crop((0, top, image.width, bottom)).tobytes()


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps({"length": 0, **content}).encode() + b"\n"


if __name__ == "__main__":
    main()
