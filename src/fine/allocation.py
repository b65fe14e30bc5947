"""Keep the memory of one training step for the next."""

import contextlib
import ctypes
import functools
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's settings in glibc's malloc.h


@functools.cache
def keep_freed_memory() -> None:
    """Stop glibc from returning large tensors to the system after every step.

    It would have to ask for them again at once, and the page faults cost a quarter of the training time (docs/log.md).
    Elsewhere than on Linux this does nothing.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
            libc = ctypes.CDLL("libc.so.6")
            libc.mallopt(_MMAP_THRESHOLD, 1 << 25)  # the largest value it takes
            libc.mallopt(_TRIM_THRESHOLD, 1 << 30)
