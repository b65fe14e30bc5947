"""Decodes images of formats that are only safe to decode in a separate process.

    with ConfinedDecoder() as decoder:
        image, orientation = decoder.decode(content)

The decoders of TIFF, JPEG 2000 and AVIF take a file in one piece, and how long they take and how
much memory depends on more than the size that the file names: a small AVIF may hold an image of 268
megapixels, a small TIFF a tile of a gigabyte. So they run in another process, which the system ends
when it has used its time or its memory. It starts with the first such image, in a tenth of a
second, and serves until the end of the block.
"""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from PIL import Image

from fine.images.limits import STANDARD, Limits, TooCostlyError

FORMATS = ("TIFF", "JPEG2000", "AVIF")
_WORKER = Path(__file__).with_name("confined_worker.py")
_TIFF = (b"II*\0", b"MM\0*", b"II\0*", b"MM*\0", b"II+\0", b"MM\0+")  # in any order of bytes
_JPEG2000 = (b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP  ")
_AVIF = b"ftyp"  # behind a length of four bytes


def is_confined(content: bytes) -> bool:
    """Whether a file begins as one of these formats does."""
    return content.startswith(_TIFF + _JPEG2000) or content[4:8] == _AVIF


class ConfinedDecoder:
    """A process that decodes one image after another."""

    def __init__(self, limits: Limits = STANDARD) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ConfinedDecoder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()  # it may be in the middle of an image
            self._process.communicate()
            self._process = None

    def decode(self, content: bytes) -> tuple[Image.Image, int]:
        """The first image in a file, and its orientation as its EXIF data says."""
        if self._process is None:
            self._process = _start(self._limits)
        try:
            about, pixels = _ask(self._process, content)
        except (BrokenPipeError, EOFError):
            by_a_signal = self._process.wait() < 0
            self.close()
            if not by_a_signal:
                raise OSError("the process that decodes images has ended") from None
            raise TooCostlyError(
                f"takes more than {self._limits.seconds} seconds or {self._memory} to decode"
            ) from None
        if "too_large" in about:
            raise TooCostlyError(f"has more than {self._limits.pixels // 1_000_000} megapixels")
        if "no_memory" in about:
            raise TooCostlyError(f"takes more than {self._memory} to decode")
        if "broken" in about:
            raise ValueError(about["broken"])
        image = Image.frombytes(about["mode"], tuple(about["size"]), pixels)
        if about["palette"]:
            image.putpalette(about["palette"], about["palette_mode"])
        image.format = about["format"]
        image.info.update(about["info"])
        for name, encoded in about["encoded_info"].items():
            image.info[name] = base64.b64decode(encoded)
        return image, about["orientation"]

    @property
    def _memory(self) -> str:
        """The limit of memory, in words."""
        gigabytes = self._limits.memory / 1_000_000_000
        return "a gigabyte" if gigabytes == 1 else f"{gigabytes:g} gigabytes"


def _ask(process: "subprocess.Popen[bytes]", content: bytes) -> tuple[dict[str, Any], bytes]:
    """What the process answers to a file: what the pixels are, and their bytes."""
    assert process.stdin is not None and process.stdout is not None  # both are pipes
    process.stdin.write(len(content).to_bytes(8, "little"))
    process.stdin.write(content)
    process.stdin.flush()
    line = process.stdout.readline()
    about = json.loads(line) if line else {"length": 1}
    pixels = process.stdout.read(about["length"])
    if len(pixels) < about["length"]:
        raise EOFError
    return about, pixels


def _start(limits: Limits) -> "subprocess.Popen[bytes]":
    numbers = map(str, (limits.pixels, limits.seconds, limits.memory))
    command = [sys.executable, "-P", str(_WORKER), ",".join(FORMATS), *numbers]
    paths = os.pathsep.join(filter(None, sys.path))  # Pillow is where we have it from
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
