"""Packages that tests install for themselves: a folder of modules and the metadata of pip."""

from pathlib import Path


def install(folder: Path, package: str, *, source: str, entries: dict[str, str]) -> None:
    """Write a package of one module; ``entries`` has a line for a group, "mine = pack:THING"."""
    (folder / f"{package}.py").write_text(source)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"[{group}]\n{line}\n" for group, line in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
