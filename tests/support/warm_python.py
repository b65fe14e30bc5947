"""A Python that has imported torch already: a program starts in tenths of a second, not in seconds.

    python = WarmPython()
    done = python.run("-c", "import fine; print(fine.__version__)", cwd=folder)
    subprocess.Popen([*python.command, "-m", "fine", "train"])
    python.close()

A server imports what takes long, but not `fine`, and draws the glyphs, once. Every program is a
fork of it, with arguments, folder, environment, standard files and an exit code of its own; it dies
with the process that asked for it. Only how torch and others are imported cannot be seen here, nor
limits of a process, such as those of `ulimit`.

The file is the server and the command as well, and so imports little.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NoReturn

IMPORTED = (
    "fastapi",
    "matplotlib.pyplot",
    "PIL.ImageDraw",
    "rich.console",
    "safetensors.torch",
    "starlette.testclient",
    "torch._dynamo",  # by the first optimiser of a process
    "tyro",
    "uvicorn",
)


class WarmPython:
    """Runs programs as `python …` does."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="warm-")  # a short path, as sockets need
        self.address = str(Path(self.folder.name) / "socket")
        # One thread, for threads are not there in a fork. The server ends with its input.
        self.server = subprocess.Popen(
            [sys.executable, __file__, "serve", self.address],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.server.stdout is not None
        assert self.server.stdout.readline() == b"ready\n"

    @property
    def command(self) -> tuple[str, ...]:
        """What to write for `python`, where a process is needed that others can wait for or end."""
        return (sys.executable, "-IS", __file__, "call", self.address)

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        environment: dict[str, str] | None = None,
        timeout: float = 600,
    ) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run` would with `python` before the arguments, and its output kept."""
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            Path(os.devnull).open("rb") as nothing,
        ):
            files = [file.fileno() for file in (nothing, out, err)]
            with _asked(self.address, arguments, files, cwd, environment) as connection:
                connection.settimeout(timeout)
                code = _answer(connection)
            for file in (out, err):
                file.seek(0)
            said = (out.read().decode(), err.read().decode())
        return subprocess.CompletedProcess(arguments, code, *said)

    def close(self) -> None:
        """End the server; programs that still run are ended too."""
        self.server.communicate()
        self.folder.cleanup()


def _asked(
    address: str,
    arguments: Sequence[str],
    files: Sequence[int],
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> socket.socket:
    """Have a program run; the connection on which its end is told, and signals are passed on."""
    request = {
        "arguments": arguments,
        "cwd": str(cwd or Path.cwd()),
        "environment": dict(os.environ) if environment is None else environment,
    }
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    socket.send_fds(connection, [b"!"], files)
    connection.sendall(json.dumps(request).encode() + b"\n")
    return connection


def _answer(connection: socket.socket) -> int:
    """The exit code of the program, or minus the number of the signal that ended it."""
    with connection.makefile() as said:
        return int(said.readline())


class DrawnGlyphs:
    """Finds `fine.images.glyphs` as Python would, with the glyphs that everybody uses drawn."""

    def __init__(self) -> None:
        self.glyphs = importlib.import_module("fine.images.glyphs").load()

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != "fine.images.glyphs":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def execute_and_change(module: Any) -> None:
            execute(module)
            load = module.load

            def load_drawn(*, size: int = 32, **options: int) -> Any:
                if size != 32 or options:
                    return load(size=size, **options)
                # By name: the class of glyphs is not that of a module that is imported anew.
                return module.Images(**vars(self.glyphs))

            module.load = load_drawn

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def _serve(address: str) -> NoReturn:
    """Fork for every caller, until there is nothing more to read from standard input."""
    for module in IMPORTED:
        importlib.import_module(module)
    drawn = DrawnGlyphs()
    for name in [name for name in sys.modules if name.partition(".")[0] == "fine"]:
        del sys.modules[name]
    sys.meta_path.insert(0, drawn)
    del sys.path[0]  # the folder of this file
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            asked, _, _ = select.select([listening, sys.stdin], [], [])
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass
            if sys.stdin in asked:
                os._exit(0)  # to tidy up all that was imported would take a second
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    listening.close()
                    _mind(connection)


def _mind(connection: socket.socket) -> NoReturn:
    """Be a process that starts a program, says how it ends, and ends it if its caller is gone."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    request = json.loads(connection.makefile().readline())
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    program = os.fork()
    if program == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # Whoever starts tests in the background has them ignore Ctrl-C, and programs too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.close(waking)
        os.close(wake)
        connection.close()
        _run(request, files)
    for file in files:
        os.close(file)
    while waking not in (heard := select.select([waking, connection, sys.stdin], [], [])[0]):
        passed_on = connection.recv(1) if connection in heard else b""
        os.kill(program, passed_on[0] if passed_on else signal.SIGKILL)
        if not passed_on:
            break
    _, status = os.waitpid(program, 0)
    with contextlib.suppress(OSError):
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _run(request: dict, files: list[int]) -> NoReturn:
    """Be the program."""
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, closefd=False, errors="backslashreplace")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    kind, name, *arguments = request["arguments"]
    sys.argv, code = [kind, *arguments], 0
    sys.path.insert(0, "")
    try:
        if kind == "-m":
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(name, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as problem:
        traceback.print_exc()
        code = -signal.SIGINT if isinstance(problem, KeyboardInterrupt) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        _end(code)


def _end(code: int) -> NoReturn:
    """Exit with this code, or by the signal of which it is the negative number."""
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    kind, address, *rest = sys.argv[1:]
    if kind == "serve":
        _serve(address)
    else:
        with _asked(address, rest, [0, 1, 2]) as connection:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
            code = _answer(connection)
        _end(code)
