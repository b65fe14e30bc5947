"""What tests of several processes share."""

import multiprocessing
import os
import socket
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing

SERVER = multiprocessing.get_context("forkserver")
"""Starts processes that have torch loaded already: most of their life is what is tested."""
# Dynamo is imported by the first optimiser of a process, and takes a second.
SERVER.set_forkserver_preload(
    ["fine.training.trainer", "fine.cli.apply", "matplotlib.pyplot", "torch._dynamo"]
)


def in_two_processes(work: Callable[..., None], *arguments: object) -> None:
    """``work(*arguments)`` in two processes of one group."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.start_processes(
        _join, (port, work, arguments), nprocs=2, start_method="forkserver"
    )


def _join(rank: int, port: int, work: Callable[..., None], arguments: tuple[object, ...]) -> None:
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    work(*arguments)
    dist.destroy_process_group()
