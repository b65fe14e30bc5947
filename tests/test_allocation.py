"""Freed memory is kept for the next step: on Linux, and harmless elsewhere."""

import ctypes
import sys

import pytest

from fine.allocation import keep_freed_memory


@pytest.fixture(autouse=True)
def _call_again():
    keep_freed_memory.cache_clear()
    yield
    keep_freed_memory.cache_clear()


def test_it_does_nothing_on_other_systems(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("no library is needed"))
    keep_freed_memory()


def test_a_c_library_other_than_glibc_is_no_error(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", missing)
    keep_freed_memory()


def test_it_is_done_once(monkeypatch):
    calls = []

    class Library:
        def mallopt(self, setting: int, value: int) -> None:
            calls.append((setting, value))

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    keep_freed_memory()
    keep_freed_memory()
    assert calls == [(-3, 1 << 25), (-1, 1 << 30)]
