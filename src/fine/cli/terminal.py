"""What commands print to: consoles on which text from files and command lines can do no harm."""

import contextlib
import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from fine.errors import FineError, printable


class PlainConsole(Console):
    """A console on which text is text, wherever it comes from.

    Nothing in [brackets] or between :colons: is a style or an emoji, and � stands for what would
    move the cursor. Styles are given as `Text`.
    """

    def __init__(self, *, stderr: bool = False):
        super().__init__(markup=False, emoji=False, stderr=stderr)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                lines = map(printable, segment.text.split("\n"))
                yield Segment("\n".join(lines), segment.style)


console = PlainConsole()


def say(*lines: str) -> None:
    """Print lines as they are: not wrapped, so that paths can be copied; without any, an empty one.

    A line stays one, even with a path in it that has line breaks.
    """
    for line in lines or ("",):
        console.print(printable(line), highlight=False, soft_wrap=True)


def print_json(content: Any) -> None:
    """Print JSON, with the characters that would move the cursor as escapes."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    print(re.sub(r"[^\n -~]", _escaped, text))


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def fail(problem: FineError) -> NoReturn:
    """Say what is wrong in one line, and exit with code 2."""
    text = Text.assemble(("error:", "bold red"), f" {problem}")
    PlainConsole(stderr=True).print(text, soft_wrap=True)
    raise SystemExit(2) from None


@contextlib.contextmanager
def errors_in_one_line() -> Iterator[None]:
    """End with one line and exit code 2 if a command fails, by a FineError or a system error."""
    try:
        try:
            yield
        finally:
            # What is written only now, after `--version` too, could fail at exit, past this.
            if sys.stdout is not None:  # closed by `fine … >&-`
                sys.stdout.flush()
    except FineError as problem:
        fail(problem)
    except (MemoryError, RuntimeError) as problem:
        # Python's own MemoryError has no text; torch's is a RuntimeError.
        if not isinstance(problem, MemoryError) and "memory" not in str(problem).lower():
            raise
        fail(
            FineError(
                "there is not enough memory for this: use a smaller --batch, fewer slots or fewer "
                "puzzles"
            )
        )
    except BrokenPipeError:  # the reader went away, as in `fine … | head`
        _drop_output()
        raise SystemExit(1) from None
    except OSError as problem:
        if problem.errno == errno.ENOSPC and problem.filename is None:  # `fine … > log.txt`
            _drop_output()
            fail(FineError("the disk is full: what is printed could not be written to its file"))
        if problem.filename is None:
            raise
        # A name too long for a file, a folder without permission.
        fail(
            FineError(f"{problem.filename} cannot be used ({problem.strerror}): give another path")
        )


def _drop_output() -> None:
    """Leave nothing for Python to write at exit, because that would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
