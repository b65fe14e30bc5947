"""No code from data, no network that nobody asked for, and checksums of all that is installed."""

import ast
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io.files import write_text
from fine.training import resume
from support.folders import contents

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/fine"
MODULES = sorted(PACKAGE.rglob("*.py"))
FORBIDDEN_MODULES = {
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"),
    *("code", "codeop", "yaml"),
}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "input", "breakpoint"),
    *("os.system", "os.popen", "os.startfile"),
    *("torch.hub.load", "torch.jit.load", "torch.package.PackageImporter"),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "shutil.unpack_archive"),
    *("runpy.run_path", "runpy.run_module"),
}
FORBIDDEN_METHODS = {"extractall", "extract"}
"""Of archives: they write where the archive says."""


def findings(source: str) -> Iterator[str]:
    """What in a module could run code that is in a file, or write where a file says."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(node)
        if isinstance(node, ast.Call):
            yield from _calls(node)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    modules = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if name in FORBIDDEN_CALLS | {"torch.load"})
        modules = [node.module or ""]
    yield from (f"import {m}" for m in modules if m.split(".")[0] in FORBIDDEN_MODULES)


def _calls(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func)
    options = {option.arg: ast.unparse(option.value) for option in node.keywords}
    if name in FORBIDDEN_CALLS or name.rpartition(".")[2] in FORBIDDEN_METHODS:
        yield name
    if name == "torch.load" and options.get("weights_only") != "True":
        yield "torch.load without weights_only"
    for option in ("shell", "allow_pickle"):
        if options.get(option, "False") != "False":
            yield f"{name} with {option}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_module_runs_code_that_is_in_a_file(path):
    assert not list(findings(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        *("import pickle", "from pickle import loads", "import yaml", "import marshal as m"),
        *("from torch import load", "eval('1')", "exec(text)", "compile(text, '', 'exec')"),
        *("__import__(name)", "torch.load(path)", "torch.load(path, weights_only=False)"),
        *("np.load(path, allow_pickle=True)", "subprocess.run(text, shell=True)"),
        *("os.system(text)", "archive.extractall()", "tar.extract(member)"),
    ],
)
def test_the_search_would_find_it(source):
    assert list(findings(source))


@pytest.mark.parametrize(
    "source", ["model.eval()", "re.compile(text)", "torch.load(p, weights_only=True)", "run(a)"]
)
def test_the_search_finds_nothing_in_what_is_harmless(source):
    assert not list(findings(source))


@pytest.mark.slow
def test_modules_are_imported_by_names_that_the_program_knows():
    """`import_module` is given names from lists of our own, never one from a file."""
    calls = [
        ast.unparse(node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
    ]
    assert sorted(calls) == [
        "import_module(f'fine.cli.{name}')",  # of COMMANDS
        "import_module(f'fine.{_HOME_OF[name]}')",
        "import_module(f'fine.{name}')",  # of _HOMES
    ]


@pytest.mark.slow
def test_nothing_is_fetched_by_importing_and_using_the_library():
    """A process that may open no connection at all draws puzzles and answers them."""
    program = """
import socket
def refuse(*_): raise SystemExit("connected")
socket.socket.connect = refuse
import torch, fine
puzzles = fine.draw_puzzles(fine.load_images("glyphs"), fine.rule_set("rotation"), 2, seed=0)
print(fine.evaluate(fine.make_model("fine", channels=1, size=32), puzzles).accuracy)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


HARMLESS = {
    *("Image", "os", "archive", "tarfile"),  # of bytes that were read, or nothing but /dev/null
    *("temporary", "urllib.request.build_opener(_SafeRedirects)"),  # being written; no file at all
    *("files('fine.report').joinpath('style.css')", "files('fine.analysis').joinpath('map.html')"),
    *("Path(__file__).with_name(f'{name}.py')", "file"),  # the page of the demo
}
"""Whose open, read_text and read_bytes may be called outside of fine.io."""


def reads(source: str) -> Iterator[str]:
    """Where a module reads a file by itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            place, _, method = ast.unparse(node.func).rpartition(".")
            reading = method in ("open", "read_text", "read_bytes") and (place or method == "open")
            if reading and place not in HARMLESS:
                yield ast.unparse(node)


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if path.parent.name != "io"],
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_files_are_read_by_fine_io_alone(path):
    """So that a pipe, a device or a file without end is refused wherever a file is read."""
    assert not list(reads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source", ["open(path)", "path.open('rb')", "Path(x).read_text()", "(a / b).read_bytes()"]
)
def test_the_search_for_reads_would_find_it(source):
    assert list(reads(source))


NAMES = ("config.json", "metrics.csv", "model.safetensors", "result.json", "puzzles.png", "lock")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "state.safetensors"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "temporary file"])
def test_a_shared_run_touches_nothing_outside_of_its_folder(fuzzed_runs, tmp_path, name, kind):
    """Whatever in it is a link that leads out of it, be it one that only a guess would find."""
    run, outside = tmp_path / "run", tmp_path / "outside"
    shutil.copytree(fuzzed_runs / "stopped", run)
    outside.mkdir()
    (outside / "folder").mkdir()
    write_text(outside / "victim", "precious")
    if (run / name).exists() and kind == "link":
        shutil.move(run / name, outside / "victim")  # it is read, so it must be what it was
    before = contents(outside)
    link = run / (f".{name}.{os.getpid()}.part" if kind == "temporary file" else name)
    link.unlink(missing_ok=True)
    link.symlink_to(outside / ("new" if kind == "dangling link" else "victim"))
    (run / ".leftover.1.part").symlink_to(outside / "folder")
    with contextlib.suppress(FineError):  # it may be refused, or trained to its end
        resume(run)
    assert contents(outside) == before


def test_tests_reach_this_machine_only():
    with pytest.raises(OSError, match="may not look up"):
        urllib.request.urlopen("https://example.org", timeout=1)
    with pytest.raises(OSError, match="may not look up"):
        socket.gethostbyname("example.org")
    nobody = ("192.0.2.1", 80)  # an address that is kept free for examples
    refused = pytest.raises(OSError, match="may not connect to 192")
    for method in ("connect", "connect_ex"):
        with socket.socket() as client, refused:
            getattr(client, method)(nobody)
    with socket.socket(type=socket.SOCK_DGRAM) as client, refused:
        client.sendto(b"hello", nobody)
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_every_pinned_version_has_its_checksums():
    """locked.txt is constraints.txt with checksums of all files, but torch, whose builds differ."""

    def normal(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    constraints = (ROOT / "constraints.txt").read_text()
    locked = (ROOT / "locked.txt").read_text()
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", constraints, re.MULTILINE))
    checksums = r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
    entries = re.findall(rf"^([\w.-]+)==(\S+)[^\n]*\\\n{checksums}", locked, re.MULTILINE)
    versions = {normal(name): version for name, version in entries}
    assert len(versions) == len(re.findall(r"^\w", locked, re.MULTILINE))  # all have checksums
    wanted = {normal(name): version for name, version in pinned.items() if name != "torch"}
    assert wanted.items() <= versions.items()
