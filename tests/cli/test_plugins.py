"""`fine plugins`, and plug-ins in other commands."""

import sys

from fine.cli.terminal import console
from support.plugins import install


def test_without_plugins_it_says_how_to_make_one(fine, monkeypatch):
    monkeypatch.setattr("fine.cli.plugins.plugins", lambda group: [])
    assert "docs/plugins.md" in fine("plugins").out


def test_plugins_are_listed_and_checked(fine, workplace, monkeypatch):
    monkeypatch.setattr(console, "width", 300)
    monkeypatch.syspath_prepend(str(workplace))
    read = "def read(path): return []\nA = 1"
    entries = {
        "fine.benchmarks": "one = pack_i:read\nwrong = pack_i:A",
        "fine.models": "no = pack_i:A",
    }
    install(workplace, "pack_i", source=read, entries=entries)
    install(workplace, "pack_j", source="1 / 0", entries={"fine.models": "two = pack_j:B"})
    code, out, err = fine("plugins")
    assert code == 0 and not err and "pack_i 1.0" in out and "division" not in out
    code, out, err = fine("plugins", "--check")
    assert code == 0 and out.count("yes") == 1 and "ZeroDivisionError: division by zero" in out
    assert "expected a function, not int" in out and "expected fine.models.Recipe" in out


def test_a_broken_model_is_refused_in_one_line(refused, workplace, monkeypatch):
    monkeypatch.syspath_prepend(str(workplace))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # nothing may be written
    install(workplace, "pack_k", source="1 / 0", entries={"fine.models": "three = pack_k:B"})
    message = refused("train", "--model", "three", "--out", "run")
    assert "the model 'three' of the package pack_k 1.0 cannot be used" in message
