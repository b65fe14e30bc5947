"""A process that decodes images for confined.py, within limits that the system enforces.

    python confined_worker.py TIFF,AVIF 50000000 4 1000000000     # formats, pixels, seconds, bytes

It reads the length of a file (8 bytes) and the file from standard input, and answers with a line of
JSON and the bytes of the pixels. It goes on until its input ends, or the system ends it. It imports
nothing of this package, which would take longer than most images.
"""

import io
import json
import math
import sys
import time
import warnings
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


def answer(content: bytes, formats: list[str], pixel_limit: int) -> tuple[dict[str, Any], bytes]:
    """The first image in a file: what its pixels are, and their bytes."""
    with Image.open(io.BytesIO(content), formats=formats) as image:
        if image.width * image.height > pixel_limit:
            return {"too_large": True}, b""
        del content
        image.load()
        palette_mode = image.palette.mode if image.palette else ""
        about = {
            "mode": image.mode,
            "size": image.size,
            "palette_mode": palette_mode,
            "palette": image.getpalette(palette_mode) if palette_mode else [],
            "orientation": int(image.getexif().get(_ORIENTATION, 1)),
        }
        return about, image.tobytes()


def _limit(kind: int, value: int) -> None:
    """Set a limit of this process, unless it has a lower one already."""
    _, highest = resource.getrlimit(kind)
    lowest = value if highest == resource.RLIM_INFINITY else min(value, highest)
    resource.setrlimit(kind, (lowest, highest))


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
        content = sys.stdin.buffer.read(int.from_bytes(length, "little"))
        if resource:
            _limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds))
        try:
            about, pixels = answer(content, formats, pixel_limit)
        except Image.DecompressionBombError:
            about, pixels = {"too_large": True}, b""
        except MemoryError:
            about, pixels = {"no_memory": True}, b""
        except Exception as problem:
            about, pixels = {"broken": str(problem)}, b""
        del content
        line = json.dumps({**about, "length": len(pixels)})
        sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.write(pixels)
        sys.stdout.buffer.flush()
        del pixels


if __name__ == "__main__":
    main()
