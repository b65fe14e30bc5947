"""Provenance: the versions, machine and commit that a result comes from."""

import importlib.util
import platform
import shutil
import subprocess

import pytest
import torch

import fine.io.provenance
from fine.io.provenance import provenance
from fine.version import __version__


def test_provenance_names_versions_machine_and_commit():
    made = provenance()
    assert made["fine"] == __version__ and made["torch"] == torch.__version__
    assert made["python"] == platform.python_version()
    assert platform.machine() in made["machine"]
    assert made["commit"] and all(isinstance(value, str) for value in made.values())


@pytest.mark.parametrize(("count", "words"), [(1, "1 thread"), (2, "2 threads")])
def test_threads_are_counted_in_words(monkeypatch, count, words):
    monkeypatch.setattr(torch, "get_num_threads", lambda: count)
    assert provenance()["machine"].endswith(f", {words}")


def test_an_installed_package_does_not_give_the_commit_of_the_repository_around_it(tmp_path):
    place = tmp_path / "lib/site-packages/fine/io"
    place.mkdir(parents=True)
    shutil.copy(fine.io.provenance.__file__, place)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "theirs"]):
        author = ["-c", "user.name=they", "-c", "user.email=they@example.org"]
        subprocess.run(["git", *author, *command], cwd=tmp_path, check=True)
    spec = importlib.util.spec_from_file_location("copied", place / "provenance.py")
    copied = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copied)
    assert copied.provenance()["commit"] == "unknown"
