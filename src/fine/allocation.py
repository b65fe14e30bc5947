"""Keeps the memory of one training step for the next one."""

import contextlib
import ctypes
import functools
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # settings of mallopt, from glibc's malloc.h


@functools.cache
def keep_freed_memory() -> None:
    """Stop glibc from returning large tensors to the system after every step.

    It would request the memory again at once, and the page faults cost a quarter of the training
    time (dev/log.md). This does nothing on other systems than Linux.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # a C library other than glibc
            libc = ctypes.CDLL("libc.so.6")
            libc.mallopt(_MMAP_THRESHOLD, 1 << 25)  # the largest value it takes
            libc.mallopt(_TRIM_THRESHOLD, 1 << 30)
