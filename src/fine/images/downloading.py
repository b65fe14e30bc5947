"""Downloads the official files of a source, on request only (``fine data download omniglot``).

Files are collected and checked in a scratch folder inside the data root and moved into place at the
end. A wrong checksum, a dropped connection or Ctrl-C leaves nothing behind.
"""

import contextlib
import hashlib
import http.client
import os
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from fine.errors import FineError
from fine.images.official import LARGEST_FILE, find_data_root, official_source
from fine.images.sources import READERS
from fine.io.archives import open_tar
from fine.io.files import written_whole

_CHUNK = 1 << 18  # bytes read at once
_BROKEN_TAR = (
    *(tarfile.TarError, EOFError, OSError, zlib.error),
    *(ValueError, OverflowError, RecursionError),  # names and numbers that make no sense
)
_NOTHING_KEPT = "nothing was kept; try again later"


def download(
    name: str,
    data_root: Path | str | None = None,
    *,
    address: str | None = None,
    show_progress: bool = True,
) -> list[Path]:
    """Put the official files of ``name`` under the data root and return those that are new.

    Files that are whole already are not downloaded again. ``address`` replaces the official address
    of the downloads.
    """
    source, check = official_source(name), READERS[name].check
    root = find_data_root(data_root)
    paths = [root / file for file in source.files]
    needed = {path.name: path for path in paths if not _is_whole(path, check)}
    if not needed:
        return []
    folder = (address or source.address).rstrip("/")
    with _scratch_folder(root) as scratch, _progress(show_progress) as progress:
        for item, md5 in source.downloads.items():
            is_archive = item.endswith(".tar.gz")
            if is_archive or item in needed:
                _fetch(f"{folder}/{item}", md5, scratch / item, progress)
            if is_archive:
                _unpack(scratch / item, set(needed))
        for file in needed:
            check(scratch / file)
        for file, path in needed.items():
            with written_whole(path) as temporary:
                (scratch / file).replace(temporary)
    return list(needed.values())


def _is_whole(path: Path, check: Callable[[Path], str]) -> bool:
    try:
        check(path)
    except FineError:
        return False
    return True


# pooch would do less than it costs: it shows progress with another library than ours, follows
# redirects to plain http, and unpacks all members beside an archive that it keeps.
def _fetch(url: str, md5: str, path: Path, progress: Progress) -> None:
    """Stream ``url`` into ``path`` and compare its checksum."""
    _require_safe(url)
    digest, received = hashlib.md5(usedforsecurity=False), 0
    with _network_errors(url):
        response = urllib.request.build_opener(_SafeRedirects).open(url, timeout=30)
    with response, written_whole(path) as temporary, temporary.open("wb") as file:
        length = response.length or 0  # 0 if the server does not say
        task = progress.add_task(path.name, total=length or None)
        while True:
            with _network_errors(url):  # the network alone: written_whole reports a full disk
                chunk = response.read(_CHUNK)
            if not chunk:
                break
            received += len(chunk)
            if received > LARGEST_FILE:
                raise FineError(
                    f"{url} sends more than {LARGEST_FILE:,} bytes, so it is not the official "
                    "file: nothing was kept"
                )
            digest.update(chunk)
            file.write(chunk)
            progress.update(task, completed=received)
        if received < length:
            raise FineError(
                f"the connection to {url} dropped after {received:,} of {length:,} bytes: nothing "
                "was kept; try again"
            )
        if digest.hexdigest() != md5:
            raise FineError(f"{url} has md5 {digest.hexdigest()}, expected {md5}: {_NOTHING_KEPT}")


def _unpack(archive: Path, wanted: set[str]) -> None:
    """Copy wanted members beside the archive: plain files only, by the last part of their path."""
    try:
        with open_tar(archive, largest=LARGEST_FILE, expected="a tar.gz") as members:
            for member, content in members:
                name = PurePosixPath(member.name).name
                if name in wanted:
                    _copy(content, archive.with_name(name))
    except _BROKEN_TAR as problem:
        raise FineError(
            f"{archive.name} cannot be unpacked ({problem}): {_NOTHING_KEPT}"
        ) from problem
    missing = [name for name in sorted(wanted) if not archive.with_name(name).is_file()]
    if missing:
        raise FineError(f"{archive.name} does not hold {', '.join(missing)}: {_NOTHING_KEPT}")


def _copy(content: IO[bytes], path: Path) -> None:
    with written_whole(path) as temporary, temporary.open("wb") as file:
        shutil.copyfileobj(content, file, _CHUNK)


@contextlib.contextmanager
def _scratch_folder(root: Path) -> Iterator[Path]:
    """A temporary folder inside ``root``. Folders made for it are removed if they stay empty."""
    # Path.exists raises in a closed folder
    made = [folder for folder in (root, *root.parents) if not os.path.exists(folder)]  # noqa: PTH110
    try:
        try:
            root.mkdir(parents=True, exist_ok=True)
            scratch = tempfile.TemporaryDirectory(prefix=".download-", dir=root)
        except OSError as problem:
            raise FineError(
                f"cannot write to the data root {root} ({problem.strerror}): choose another one"
            ) from problem
        with scratch as name:
            yield Path(name)
    finally:
        with contextlib.suppress(OSError):  # stops at the first folder that is not empty
            for folder in made:
                folder.rmdir()


@contextlib.contextmanager
def _network_errors(url: str) -> Iterator[None]:
    try:
        yield
    except urllib.error.HTTPError as problem:
        problem.close()  # it is also the response
        raise FineError(
            f"{url} answered {problem.code} {problem.reason}: {_NOTHING_KEPT}"
        ) from problem
    except (OSError, http.client.HTTPException, ValueError) as problem:
        text = " ".join(str(getattr(problem, "reason", problem)).split())
        reason = text or type(problem).__name__
        raise FineError(
            f"could not download {url} ({reason}): check the connection and try again"
        ) from problem


def _require_safe(url: str) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        # for tests and mirrors on this machine
        loopback = parts.hostname in ("127.0.0.1", "::1", "localhost")
        safe = parts.scheme == "https" or (parts.scheme == "http" and loopback)
    except ValueError:  # not an address at all
        safe = False
    if not safe:
        raise FineError(f"{url} is not an https address: give one that starts with https://")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to safe addresses only."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> Any:
        try:
            _require_safe(newurl)
        except FineError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _progress(shown: bool) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), disable=not shown)
