"""Lists the files of fine whose functions a command executes, in the order of their first call.

python dev/walk.py train --task omniglot --rules rotation --epochs 1 --out runs/walk
"""

import os
import sys
from pathlib import Path
from types import FrameType

import fine
from fine import cli

PACKAGE = str(Path(fine.__file__).parent) + os.sep


def is_importing(frame: FrameType | None) -> bool:
    """Whether a module of fine is being imported: what that calls is not what the command does."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(PACKAGE):
            return True
        frame = frame.f_back
    return False


def main() -> None:
    """Run the command and print the files."""
    files: dict[str, str] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or path in files or not path.startswith(PACKAGE):
            return
        if not is_importing(frame):
            files[path] = frame.f_code.co_name

    sys.argv[0] = "fine"
    sys.setprofile(note)
    try:
        cli.main()
    finally:
        sys.setprofile(None)
    for number, (path, function) in enumerate(files.items(), start=1):
        print(f"{number:3} {path.removeprefix(PACKAGE)} ({function})")


if __name__ == "__main__":
    main()
