"""A process that reads files of other people, one after another, with little memory and time.

    python reading_within_limits.py image photo.png weights run/model.safetensors …

It prints, for each, the seconds of processor time and megabytes that it took, with those of
processes that it started, and what was said. The system ends it at a gigabyte more than it had, and
after 6 seconds for one file.
"""

import contextlib
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from fine.errors import FineError
from fine.experiments.worker import read_curve
from fine.images import cifar100, downloading, mnist, omniglot
from fine.images.decoding import Decoder
from fine.images.folder import _read
from fine.inference import read_image
from fine.io.files import read_json
from fine.io.tensors import read_tensors

SPARE = 1_000_000_000
"""Bytes."""


def read_for_training(path: Path) -> None:
    with Decoder() as decoder:
        _read(path, 32, decoder)


READERS: dict[str, Callable[[Path], object]] = {
    "image": read_image,
    "training image": read_for_training,
    "json": read_json,
    "curve": read_curve,
    "weights": read_tensors,
    "digits": mnist.check,
    "records": cifar100.check,
    "drawings": lambda path: omniglot._decode(path, 32),
    "archive": lambda path: downloading._unpack(path, {"train.bin"}),
}
"""Kind of file -> what reads it."""


def main() -> None:
    torch.set_num_threads(1)
    read_image(torch.zeros(1, 600, 500))  # the first use of a library is no file's fault
    limit(resource.RLIMIT_DATA, status("VmData") * 1000 + SPARE)
    for kind, name in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + 6)
        forget_peak()
        before, others = status("VmHWM"), resource.getrusage(resource.RUSAGE_CHILDREN)
        start, said = time.process_time(), "read"
        try:
            READERS[kind](Path(name))
        except FineError as problem:
            said = str(problem)
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        apart = now.ru_utime + now.ru_stime - others.ru_utime - others.ru_stime
        answer = {
            "kind": kind,
            "name": Path(name).name,
            "seconds": round(time.process_time() - start + apart, 2),
            "megabytes": (status("VmHWM") - before) // 1000,
            "said": said,
        }
        print(json.dumps(answer), flush=True)


def limit(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def status(name: str) -> int:
    """A figure of this process, in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    main()
