"""Promises of safety: no code from data, no network that nobody asked for, and versions in every format."""

import ast
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/fine"
LOCKED = (ROOT / "locked.txt").read_text()
MODULES = sorted(PACKAGE.rglob("*.py"))
FORBIDDEN_MODULES = {
    "pickle",
    "_pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "code",
    "codeop",
    "yaml",
}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "input", "breakpoint"),
    *("os.system", "os.popen", "os.startfile", "torch.hub.load", "torch.jit.load", "torch.package.PackageImporter"),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "shutil.unpack_archive", "runpy.run_path", "runpy.run_module"),
}
FORBIDDEN_METHODS = {"extractall", "extract"}
"""Of archives: they write where the archive says."""


def findings(source: str) -> Iterator[str]:
    """What in a module could run code that is in a file, or write where a file says."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (f"import {name}" for name in names if name.split(".")[0] in FORBIDDEN_MODULES)
            if isinstance(node, ast.ImportFrom):
                yield from (name for a in node.names if (name := f"{node.module}.{a.name}") in FORBIDDEN_CALLS | {"torch.load"})
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        options = {option.arg: ast.unparse(option.value) for option in node.keywords}
        if name in FORBIDDEN_CALLS or name.rpartition(".")[2] in FORBIDDEN_METHODS:
            yield name
        if name == "torch.load" and options.get("weights_only") != "True":
            yield "torch.load without weights_only"
        if options.get("shell", "False") != "False" or options.get("allow_pickle", "False") != "False":
            yield f"{name} with a shell or pickle"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_module_runs_code_that_is_in_a_file(path):
    assert not list(findings(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        *("import pickle", "from pickle import loads", "import yaml", "import marshal as m", "from torch import load"),
        *("eval('1')", "exec(text)", "compile(text, '', 'exec')", "__import__(name)"),
        *("torch.load(path)", "torch.load(path, weights_only=False)", "np.load(path, allow_pickle=True)"),
        *("subprocess.run(text, shell=True)", "os.system(text)", "archive.extractall()", "tar.extract(member)"),
    ],
)
def test_the_search_would_find_it(source):
    assert list(findings(source))


@pytest.mark.parametrize("source", ["model.eval()", "re.compile(text)", "torch.load(p, weights_only=True)", "run(a)"])
def test_the_search_finds_nothing_in_what_is_harmless(source):
    assert not list(findings(source))


def test_modules_are_imported_by_names_that_the_program_knows():
    """`import_module` is told a name that a list of our own has been asked for first, never one out of a file."""
    calls = [
        ast.unparse(node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
    ]
    assert calls and all(call.startswith(("import_module('fine.", "import_module(f'fine.images.{")) for call in calls)


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


def test_tests_reach_this_machine_only():
    with pytest.raises(OSError, match="may not look up"):
        urllib.request.urlopen("https://example.org", timeout=1)
    with pytest.raises(OSError, match="may not look up"):
        socket.gethostbyname("example.org")
    nobody = ("192.0.2.1", 80)  # an address that is kept free for examples
    for way in ("connect", "connect_ex"):
        with socket.socket() as other, pytest.raises(OSError, match="may not connect to 192"):
            getattr(other, way)(nobody)
    with socket.socket(type=socket.SOCK_DGRAM) as other, pytest.raises(OSError, match="may not connect to 192"):
        other.sendto(b"hello", nobody)
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_every_pinned_version_has_its_checksums():
    """locked.txt is constraints.txt with the checksums of all files; only torch is missing, whose builds differ."""

    def name_of(text: str) -> str:
        return re.sub(r"[-_.]+", "-", text).lower()

    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    locked = re.findall(r"^([\w.-]+)==(\S+)[^\n]*\\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", LOCKED, re.MULTILINE)
    versions = {name_of(name): version for name, version, _ in locked}
    assert len(versions) == len(re.findall(r"^\w", LOCKED, re.MULTILINE)), "every entry has checksums"
    assert {name_of(name): version for name, version in pinned.items() if name != "torch"}.items() <= versions.items()
