"""Downloads from a server on this machine: only what arrives whole is kept."""

import hashlib
import io
import random
import signal
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fine.errors import FineError
from fine.images import downloading, load_images
from fine.images.checking import status, verify
from fine.images.downloading import download
from fine.images.official import OFFICIAL
from support.image_files import DARK_DIGITS as DIGITS
from support.image_files import MNIST_IMAGES as IMAGES
from support.image_files import MNIST_LABELS as LABELS


class Server:
    """Serves ``files`` by name; ``during`` is called after half of a body was sent."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.requests: list[str] = []
        self.during: Callable[[], None] | None = None
        self.drop = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rsplit("/", 1)[1]
                server.requests.append(name)
                if name in server.redirects:
                    self.send_response(302)
                    self.send_header("Location", server.redirects[name])
                    self.end_headers()
                elif name in server.files:
                    body = server.files[name]
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body[: len(body) // 2])
                    self.wfile.flush()
                    if server.during:
                        server.during()
                    if not server.drop:
                        self.wfile.write(body[len(body) // 2 :])
                else:
                    self.send_error(404)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}/files"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    threading.Thread(target=server.http.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.http.shutdown()
    server.http.server_close()


def publish(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str, files: dict[str, bytes]
) -> None:
    """Serve ``files`` and take their checksums for the official ones."""
    server.files |= files
    sums = {file: hashlib.md5(content).hexdigest() for file, content in files.items()}
    monkeypatch.setitem(OFFICIAL, name, replace(OFFICIAL[name], downloads=sums))


def get(name: str, root: Path, server: Server) -> list[Path]:
    return download(name, root, address=server.address, show_progress=False)


def refused(name: str, root: Path, address: str) -> str:
    """The error of a download that leaves no data root behind, where none was before."""
    assert not root.exists()
    with pytest.raises(FineError) as error:
        download(name, root, address=address, show_progress=False)
    assert not root.exists()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_was_downloaded_loads(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "mnist", DIGITS)
    root = tmp_path / "new" / "root"
    assert get("mnist", root, server) == [root / "mnist" / IMAGES, root / "mnist" / LABELS]
    found = sorted(path.name for path in root.rglob("*"))
    assert found == ["mnist", IMAGES, LABELS]  # and nothing else
    assert (root / "mnist" / IMAGES).read_bytes() == DIGITS[IMAGES]
    assert load_images("mnist", data_root=root).pixels.shape == (10_000, 1, 32, 32)


def test_only_what_is_missing_or_damaged_is_fetched(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "mnist", DIGITS)
    get("mnist", tmp_path, server)
    server.requests.clear()
    assert get("mnist", tmp_path, server) == []
    assert server.requests == []
    (tmp_path / "mnist" / LABELS).write_bytes(b"damaged")
    assert get("mnist", tmp_path, server) == [tmp_path / "mnist" / LABELS]
    assert server.requests == [LABELS]
    assert (tmp_path / "mnist" / LABELS).read_bytes() == DIGITS[LABELS]


def test_the_official_checksums_are_those_of_the_real_files(
    data_root: Path, server: Server, tmp_path: Path
) -> None:
    server.files = {name: (data_root / "mnist" / name).read_bytes() for name in DIGITS}
    get("mnist", tmp_path, server)
    report = verify("mnist", tmp_path)
    assert (report.images, report.classes, report.channels) == (10_000, 10, 1)
    assert set(report.official.values()) == {True}


def test_a_wrong_checksum_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.files = DIGITS  # not the official files
    said = refused("mnist", tmp_path / "root", server.address)
    assert OFFICIAL["mnist"].downloads[IMAGES] in said
    assert hashlib.md5(DIGITS[IMAGES]).hexdigest() in said


def test_a_dropped_connection_leaves_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "mnist", DIGITS)
    server.drop = True
    half, whole = len(DIGITS[IMAGES]) // 2, len(DIGITS[IMAGES])
    assert f"dropped after {half:,} of {whole:,} bytes" in refused(
        "mnist", tmp_path / "root", server.address
    )


def test_a_failure_in_the_second_file_leaves_nothing_of_the_first(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "mnist", DIGITS)
    del server.files[LABELS]
    assert "404" in refused("mnist", tmp_path / "root", server.address)
    assert server.requests == [IMAGES, LABELS]


def test_ctrl_c_leaves_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "mnist", DIGITS)
    main = threading.main_thread().ident
    assert main is not None
    receiving, interrupted, ended = threading.Event(), threading.Event(), threading.Event()

    class Watched(downloading.Progress):
        def add_task(self, *arguments: Any, **options: Any) -> Any:
            receiving.set()  # the answer has come, and its body is about to be read
            return super().add_task(*arguments, **options)

    def interrupt() -> None:
        receiving.wait(60)
        # A signal that comes just before the download waits does not wake it, so send another.
        while not (interrupted.wait(0.1) or ended.is_set()):
            signal.pthread_kill(main, signal.SIGINT)
        ended.wait(60)  # the other half never comes

    def stop(*_: object) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    monkeypatch.setattr(downloading, "Progress", Watched)
    server.during = interrupt
    before = signal.signal(signal.SIGINT, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            get("mnist", tmp_path / "root", server)
    finally:
        ended.set()
        signal.signal(signal.SIGINT, before)
    assert not (tmp_path / "root").exists()


def test_an_existing_data_root_and_what_is_in_it_stay(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FineError, match="404"):
        get("mnist", tmp_path, server)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_nobody_listening_is_one_line(server: Server, tmp_path: Path) -> None:
    server.http.server_close()
    assert "check the connection" in refused("mnist", tmp_path / "root", server.address)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com",
        "ftp://127.0.0.1",
        "file:///etc",
        "http://127.0.0.1.example.com",
        "nonsense",
        "http://[",
    ],
)
def test_only_https_is_downloaded_from(address: str, tmp_path: Path) -> None:
    assert "https" in refused("mnist", tmp_path / "root", address)


def test_a_redirect_to_plain_http_is_refused(server: Server, tmp_path: Path) -> None:
    server.redirects[IMAGES] = "http://example.com/elsewhere.gz"
    assert "http://example.com/elsewhere.gz is not an https address" in refused(
        "mnist", tmp_path / "root", server.address
    )


def test_a_redirect_to_an_allowed_place_is_followed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "mnist", DIGITS)
    server.files["moved.gz"] = server.files.pop(IMAGES)
    server.redirects[IMAGES] = f"{server.address}/moved.gz"
    assert len(get("mnist", tmp_path, server)) == 2


@pytest.mark.parametrize("name", ["glyphs", "folder", "cifar10"])
def test_what_has_no_files_cannot_be_downloaded_or_verified(name: str, tmp_path: Path) -> None:
    for ask in (download, verify):
        with pytest.raises(FineError, match="choose one of omniglot, cifar100, mnist"):
            ask(name, tmp_path)


def test_a_data_root_that_cannot_be_made_is_one_line(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FineError, match="cannot write to the data root"):
        get("mnist", tmp_path / "file" / "root", server)


def tar(members: Mapping[str, bytes | str]) -> bytes:
    """A tar.gz; a member given as a string is a link to it."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as archive:
        for name, member in members.items():
            entry = tarfile.TarInfo(name)
            if isinstance(member, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, member
                archive.addfile(entry)
            else:
                entry.size = len(member)
                archive.addfile(entry, io.BytesIO(member))
    return content.getvalue()


@pytest.mark.slow
def test_of_an_archive_only_the_wanted_members_are_kept(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = "\n".join(f"class{i}" for i in range(100)).encode()
    members = {
        "cifar-100-binary/coarse_label_names.txt": b"unwanted",
        "../../escaped.txt": b"unwanted",
        # a wanted name, with a path that leads elsewhere
        "../../cifar-100-binary/train.bin": bytes(50_000 * 3_074),
        "cifar-100-binary/test.bin": bytes(10_000 * 3_074),
        "cifar-100-binary/fine_label_names.txt": names,
    }
    publish(server, monkeypatch, "cifar100", {"cifar-100-binary.tar.gz": tar(members)})
    root = tmp_path / "below" / "root"
    get("cifar100", root, server)
    kept = sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    )
    assert kept == sorted(f"below/root/{file}" for file in OFFICIAL["cifar100"].files)
    assert {row.state for row in status(root) if row.source == "cifar100"} == {"present"}


@pytest.mark.parametrize(
    ("archive", "said"),
    [
        (
            tar({"cifar-100-binary/train.bin": "/etc/passwd"}),
            "does not hold fine_label_names.txt, test.bin, train.bin",
        ),
        (tar({"c/train.bin": random.Random(0).randbytes(9_999)})[:5_000], "cannot be unpacked"),
        (b"not an archive", "cannot be unpacked"),
        (
            tar(
                {
                    f"c/{name}": b"short"
                    for name in ("train.bin", "test.bin", "fine_label_names.txt")
                }
            ),
            "expected",
        ),
    ],
    ids=["links", "truncated", "no archive", "short files"],
)
def test_an_archive_that_is_not_as_expected_leaves_nothing(
    archive: bytes, said: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, monkeypatch, "cifar100", {"cifar-100-binary.tar.gz": archive})
    assert said in refused("cifar100", tmp_path / "root", server.address)
