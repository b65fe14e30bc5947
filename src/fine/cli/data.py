"""`fine data`"""

from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.table import Column, Table

from fine.cli.arguments import options
from fine.cli.options import DataRoot
from fine.cli.terminal import console, say
from fine.images.checking import status, verify
from fine.images.downloading import download
from fine.images.official import OFFICIAL, find_data_root, official_source

CHECKSUMS = {
    True: "official checksum",
    False: "other checksum than the official one",
    None: "no checksum published",
}


@options()
class Data:
    """Show which image data is there, download it, or verify it."""

    action: tyro.conf.Positional[Literal["show", "download", "verify"]] = "show"
    """What to do."""
    sources: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="[SOURCE …]", help=f"{', '.join(OFFICIAL)}; all of them if none is named."
        ),
    ] = ()
    data_root: DataRoot = ""

    def run(self) -> None:
        root = find_data_root(self.data_root or None)
        names = self.sources or tuple(OFFICIAL)
        for name in names:
            official_source(name)  # refuse an unknown name before anything is fetched
        say(f"data root: {root}")
        actions = {"show": self._show, "download": self._download, "verify": self._verify}
        actions[self.action](names, root)

    def _show(self, names: tuple[str, ...], root: Path) -> None:
        table = Table("source", Column("file", no_wrap=True), "state", "MB", "what")
        rows = [row for row in status(root) if row.source in names]
        for row in rows:
            what = row.detail if row.state == "present" else ""
            table.add_row(row.source, row.path.name, row.state, f"{row.size / 1e6:.1f}", what)
        console.print(table)
        for row in rows:
            if row.state == "damaged":
                say(row.detail)
        say("glyphs and folder:PATH need no download; get the others with: fine data download NAME")

    def _download(self, names: tuple[str, ...], root: Path) -> None:
        for name in names:
            written = download(name, root)
            say(f"{name}: {f'{len(written)} files written' if written else 'was there already'}")

    def _verify(self, names: tuple[str, ...], root: Path) -> None:
        for name in names:
            found = verify(name, root)
            say(
                f"{name}: whole, {found.images:,} images of {found.classes:,} classes, "
                f"{found.channels} {'channel' if found.channels == 1 else 'channels'}"
            )
            for path, matches in found.official.items():
                say(f"  {path.name}: {CHECKSUMS[matches]}")
