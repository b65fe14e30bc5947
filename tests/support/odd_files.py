"""Files that are none: pipes, sockets, devices, links. And a limit on waiting for them."""

import contextlib
import os
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

NULL = Path(os.devnull).stat().st_rdev
"""The number of the device that takes everything."""


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def make_device(path: Path, number: int = NULL) -> None:
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, number)
    except OSError:
        pytest.skip("only root may make a device")


def make_link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


ODD: dict[str, Callable[[Path], None]] = {
    "pipe": make_pipe,
    "socket": make_socket,
    "device": make_device,
    "link to /dev/zero": make_link_to_zeros,
    "link to itself": make_loop,
}
"""Ways to make what is no regular file."""

odd_files = pytest.mark.parametrize("make", ODD.values(), ids=ODD)


@contextlib.contextmanager
def without_waiting(seconds: int = 20) -> Iterator[None]:
    """Nobody ever writes to a pipe of these tests: whoever waits for that is interrupted."""

    def stop(*_: object) -> None:
        raise AssertionError("this waits for something that does not come")

    handler = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
