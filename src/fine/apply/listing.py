"""Which files there are to do, and where their results go: names mirror the input tree.

    listing = list_files([Path("photos")], Path("done"))     # photos/a/b.jpg -> done/a/b.jpg

The results of one folder go straight into the output folder. If more is given, each folder has a
folder of its name there, and single files lie beside them.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fine.errors import FineError
from fine.images.folder import is_litter

SUFFIXES = frozenset(
    (
        *(".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".gif", ".webp", ".bmp"),
        *(".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm", ".jp2", ".j2k", ".avif"),
    )
)
"""Ends of the names of images, in a folder; what is given by its own name may have any."""


@dataclass(frozen=True)
class Listing:
    """Files to read and to write."""

    targets: dict[Path, Path]
    """Source -> target, in the order of their names."""
    others: Counter[str] = field(default_factory=Counter)
    """Ends of names -> how many files were left alone."""


def list_files(inputs: Sequence[Path], out: Path) -> Listing:
    """The images among files and folders, and where each result goes."""
    targets: dict[Path, Path] = {}
    others: Counter[str] = Counter()
    out_place = _real(out)
    for given in inputs:
        if given.is_dir():
            if _real(given) == out_place:
                raise FineError(f"{given} is the output folder too: choose another --out")
            base = out if len(inputs) == 1 else out / _real(given).name
            for path in _files(given, out_place):
                suffix = path.suffix.lower()
                if suffix in SUFFIXES:
                    _add(targets, path, base / path.relative_to(given))
                else:
                    others[suffix or path.name] += 1
        elif given.exists() or given.is_symlink():
            _add(targets, given, out / given.name)
        else:
            raise FineError(f"{given} is missing: expected an image or a folder of images")
    _check_apart(targets)
    _check_inside(targets, out)
    if not targets:
        named = ", ".join(map(str, inputs))
        raise FineError(f"there are no images in {named}: expected JPEG, PNG, WebP, TIFF or others")
    return Listing(targets, others)


def _files(folder: Path, out: Path) -> Iterator[Path]:
    """All files below a folder, sorted; nothing that is hidden, or of the output folder."""

    def refuse(problem: OSError) -> None:
        raise FineError(f"{problem.filename} cannot be read ({problem.strerror})") from problem

    for place, folders, names in os.walk(folder, onerror=refuse):
        here = Path(place)
        folders[:] = sorted(
            name for name in folders if not is_litter(name) and _real(here / name) != out
        )
        yield from (here / name for name in sorted(names) if not is_litter(name))


def _real(path: Path) -> Path:
    """Where a path leads, through all links; one that leads in circles is left as it is."""
    return Path(os.path.realpath(path))


def _add(targets: dict[Path, Path], source: Path, target: Path) -> None:
    targets.setdefault(source, target)


def _check_apart(targets: dict[Path, Path]) -> None:
    """Refuse two results of one name, and a result in the place of an image that is read."""
    sources = {_real(source) for source in targets}
    seen: dict[Path, Path] = {}
    for source, target in targets.items():
        if target in seen:
            raise FineError(
                f"{seen[target]} and {source} would both be written to {target}: give them in two "
                "commands"
            )
        if _real(target) in sources:
            raise FineError(
                f"{target} is an image that is read as well: choose another --out, for originals "
                "are never replaced"
            )
        seen[target] = source


def _check_inside(targets: dict[Path, Path], out: Path) -> None:
    """Refuse an output folder that somebody shared, with a link in it that leads elsewhere."""
    out_place = _real(out)
    for folder in sorted({target.parent for target in targets.values()}):
        if not _real(folder).is_relative_to(out_place):
            raise FineError(
                f"{folder} is a link that leads out of the output folder: delete it, or choose "
                "another --out"
            )
