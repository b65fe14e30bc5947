"""What fuzz tests share: limits on time and memory, and ways to damage files and JSON.

200 cases a test, always the same; timed_fuzzing.py tries new ones for as long as there is time.
"""

import contextlib
import copy
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fine.errors import FineError

_USUAL = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
settings.register_profile("same", max_examples=200, derandomize=True, database=None, **_USUAL)
settings.register_profile("new", max_examples=100, **_USUAL)
settings.load_profile("same")

SECONDS = 5
MEGABYTES = 1000


class TooLong(BaseException):
    """Not an Exception, so that no code under test can take it for a fault of a file."""


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """At most 5 seconds of CPU time, and at most a gigabyte more memory than before."""

    def stop(*_: object) -> None:
        raise TooLong(f"more than {SECONDS} s")

    before = _forget_peak()
    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # CPU time: the machine may be busy
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    assert _peak() - before < MEGABYTES * 1000, "too much memory"


def _forget_peak() -> int:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak starts again from now
    return _peak()


def _peak() -> int:
    """The most memory this process has used, in kilobytes; 0 on systems that do not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


@contextlib.contextmanager
def a_result_or_one_line() -> Iterator[None]:
    """Within the limits, the code works or says in one line why not; all else is a finding."""
    with limits():
        said = "a result"
        try:
            yield
        except FineError as problem:
            said = str(problem)
    assert said.isprintable() and len(said) < 2000


def damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """A file's bytes, cut or changed in some places, most of them near the start: headers."""
    place = st.integers(0, min(64, len(whole))) | st.integers(0, len(whole))
    extreme = [b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0"]
    odd = st.sampled_from(extreme) | st.binary(max_size=8)
    edit = st.tuples(place, st.sampled_from(["over", "into", "cut"]), odd)
    edits = st.lists(edit, min_size=1, max_size=4)
    return st.binary(max_size=200) | edits.map(lambda edits: _edited(whole, edits))


def _edited(whole: bytes, edits: list[tuple[int, str, bytes]]) -> bytes:
    for place, kind, odd in edits:
        rest = {"over": place + len(odd), "into": place, "cut": len(whole)}[kind]
        whole = whole[:place] + (b"" if kind == "cut" else odd) + whole[rest:]
    return whole


HOSTILE = (
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b2J",
    "a\rb\nc",
    "\u202eedoc",
    "[bold]x[/]",
    "[/]",
    "[link=https://example.org]x",
    ":smile:",
)
"""Texts that would do more in a terminal than to be seen."""
TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        *("", "\0", "\ud800", "../../x", "folder:", "all", "~no-one/x", "9" * 400, "-", "nan"),
        *HOSTILE,
    ]
)
NUMBERS = (
    st.integers(-3, 300)
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.sampled_from([2**31, 2**32, 2**63, 10**400, 0.5, float("nan"), float("inf")])
)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@st.composite
def spoilt(draw: st.DrawFn, whole: dict[str, Any]) -> str:
    """JSON text with one or two parts changed, missing or new; or with its letters damaged."""
    if draw(st.integers(0, 4)) == 0:
        return draw(damaged(json.dumps(whole).encode())).decode("utf-8", "replace")
    content = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 2))):
        place: Any = content
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            act = draw(st.sampled_from(["change", "change", "change", "drop", "add"]))
            if act == "drop":
                del place[key]
            elif act == "add" and isinstance(place, dict):
                place[draw(st.text(max_size=8))] = draw(JSON)
            else:
                place[key] = draw(JSON)
            break
    return json.dumps(content)
