"""`fine data`"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro
from rich.table import Table

from fine.cli.terminal import console, say
from fine.images.checking import status, verify
from fine.images.downloading import download
from fine.images.official import OFFICIAL, find_data_root, official_source


@dataclass(frozen=True)
class Data:
    """Show which image data is there; download it; verify it."""

    action: tyro.conf.Positional[Literal["show", "download", "verify"]] = "show"
    """What to do."""
    sources: tyro.conf.Positional[tuple[str, ...]] = ()
    """omniglot, cifar100, mnist; all of them if none is named."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        root = find_data_root(self.data_root or None)
        names = self.sources or tuple(OFFICIAL)
        for name in names:
            official_source(name)  # refuse an unknown name before anything is fetched
        say(f"data root: {root}")
        {"show": self._show, "download": self._download, "verify": self._verify}[self.action](names, root)

    def _show(self, names: tuple[str, ...], root: Path) -> None:
        table = Table("source", "file", "state", "MB", "what")
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
            say(f"{name}: {len(written)} files written" if written else f"{name}: was there already")

    def _verify(self, names: tuple[str, ...], root: Path) -> None:
        words = {True: "official checksum", False: "other checksum than the official one", None: "no checksum published"}
        for name in names:
            found = verify(name, root)
            say(f"{name}: whole, {found.pictures:,} pictures of {found.classes:,} classes, {found.channels} channels")
            for path, matches in found.official.items():
                say(f"  {path.name}: {words[matches]}")
