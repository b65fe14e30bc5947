"""The number of threads that torch computes with, for a while.

with using_threads(1):
    ...
"""

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Compute with ``count`` threads; with another number, sums differ in their last bits.

    It is set even if it is the present one. Otherwise MKL, below torch, may use fewer. Use one for
    many operations on small tensors: where other programs use the cores as well, threads wait for
    each other far longer than they compute.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
