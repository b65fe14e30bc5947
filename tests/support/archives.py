"""What tests of archives share: zips and tars, sound and lying."""

import io
import tarfile
import zipfile


def zipped(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def lying_zip(
    name: str,
    content: bytes,
    claimed: int,
    *,
    others: dict[str, bytes] | None = None,
    method: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """A zip with an entry that claims another size than it has."""
    whole = bytearray(zipped({name: content, **(others or {})}, method))
    size = len(content).to_bytes(4, "little")
    for start, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # local header, contents
        entry = whole.index(start)
        assert whole[entry + place : entry + place + 4] == size
        whole[entry + place : entry + place + 4] = claimed.to_bytes(4, "little")
    return bytes(whole)


def tarred(members: list[tuple[str, bytes, bytes]]) -> bytes:
    """A tar.gz of members (name, type, content); links lead out of the folder."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "../../outside"
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()
