"""What tests share. Tests of real images need FINE_DATA; FINE_REQUIRE_DATA=1 fails without it."""

import importlib
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from fine import cli
from support.warm_python import WarmPython

pytest_plugins = ("support.figures", "support.timed_fuzzing")


class Outcome(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def _no_network_but_this_machine():
    """Tests reach nothing beyond loopback; what they start as other processes is on its own."""

    def is_here(host: object) -> bool:
        try:
            return host in (None, "", "localhost") or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def guarded(name: str) -> Callable:
        """A method of sockets whose last argument is where to."""
        method = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> object:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not is_here(arguments[-1][0]):
                raise OSError(f"tests may not connect to {arguments[-1][0]}")
            return method(self, *arguments)

        return call

    def guarded_look_up(function: Callable) -> Callable:
        def call(host: str | None, *arguments: object, **options: object) -> object:
            if not is_here(host):
                raise OSError(f"tests may not look up {host}")
            return function(host, *arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guarded(name))
        patch.setattr(socket, "getaddrinfo", guarded_look_up(socket.getaddrinfo))
        patch.setattr(socket, "gethostbyname", guarded_look_up(socket.gethostbyname))
        yield


@pytest.fixture(scope="session", autouse=True)
def _short_sheets():
    """Runs end with an image of two puzzles, one solved and one missed: twelve take a second."""
    drawing = importlib.import_module("fine.drawing.evaluations")
    with pytest.MonkeyPatch.context() as patch:
        for group in ("solved", "missed"):
            patch.setitem(drawing.draw_evaluation.__kwdefaults__, group, 1)
        yield


@pytest.fixture
def fine(monkeypatch, capsys):
    """Run a command in this process, as the shell would: fine("puzzles", "--count", 2)."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["fine", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def warm_python() -> Iterator[WarmPython]:
    """A Python that has imported `fine` already, for programs in a process of their own."""
    python = WarmPython()
    yield python
    python.close()


@pytest.fixture
def noisy_images(tmp_path) -> Path:
    """A folder of noise in four classes, which is there sooner than glyphs."""
    noise = np.random.default_rng(0)
    for label in "abcd":
        (tmp_path / "images" / label).mkdir(parents=True)
        for number in range(3):
            pixels = noise.integers(256, size=(32, 32), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "images" / label / f"{number}.png")
    return tmp_path / "images"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """A data root with all official files in it."""
    # Imported late: the process that hands out tests to others reads this file too, and runs none.
    official = importlib.import_module("fine.images.official").OFFICIAL
    root = Path(os.environ.get("FINE_DATA", "")).absolute()
    files = [file for source in official.values() for file in source.files]
    missing = [file for file in files if not (root / file).is_file()]
    if os.environ.get("FINE_DATA") and not missing:
        return root
    needed = ", ".join(missing) or "the official files"
    reason = f"real images are needed: set FINE_DATA to a data root with {needed}"
    if os.environ.get("FINE_REQUIRE_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
