"""Lists the files of fine whose functions a command executes, in the order of their first call.

python dev/walk.py train --task omniglot --rules rotation --epochs 1 --out runs/walk
"""

import sys
from pathlib import Path
from types import FrameType

import fine
from fine import cli

PACKAGE = Path(fine.__file__).parent


def main() -> None:
    """Run the command and print the files."""
    files: dict[str, str] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents and frame.f_code.co_name != "<module>":
            files.setdefault(str(path.relative_to(PACKAGE)), frame.f_code.co_name)

    sys.argv[0] = "fine"
    sys.setprofile(note)
    try:
        cli.main()
    finally:
        sys.setprofile(None)
    for number, (path, function) in enumerate(files.items(), start=1):
        print(f"{number:3} {path} ({function})")


if __name__ == "__main__":
    main()
