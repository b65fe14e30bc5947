"""The files that exported puzzles can be: NumPy arrays, images with a table, Parquet, a hub folder.

    export = Export(images, shown, key, card)
    write_export(export, Path("out.npz"))
    key = read_key(Path("out.npz"))           # the answers, without the images

All of them hold the same pixels. Parquet needs pyarrow. Its columns of images are what the library
`datasets` calls the feature Image, so that it shows them as images.
"""

import csv
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fine.errors import FineError
from fine.exchange.answer_key import COLUMNS, AnswerKey
from fine.io.archives import open_zip, read_entry
from fine.io.files import read_json, write_json, write_text, written_whole
from fine.io.folders import written_folder
from fine.io.tables import MOST_ROWS, parse_table
from fine.io.typed_json import parse_json
from fine.io.untrusted import open_regular, read_text

FORMAT = 1
"""The format of exports; no other is read."""
HUB = "hub:"
"""What stands before the name of a folder for the Hugging Face hub."""
LARGEST_EXPORT = 20_000_000_000
"""Bytes of an export that is read; most of them are pixels, which scoring leaves alone."""
LARGEST_KEY = 80_000_000
"""Bytes of a column of an answer key, or of its table; a quarter of a million puzzles have less."""
_FACTS = "fine"  # the name of the facts in the metadata of a Parquet file
_TABLE, _FACTS_FILE = "puzzles.csv", "puzzles.json"
_ROWS_AT_ONCE = 1000  # rows of Parquet that are kept in memory as PNG


@dataclass(frozen=True)
class Export:
    """Puzzles as they are written, whatever the format."""

    images: NDArray[np.uint8]
    """(n, shown, channels, size, size)."""
    shown: tuple[str, ...]
    """What each image of a puzzle is: x, y, new and the choices A, B, C, D."""
    key: AnswerKey
    card: str
    """What a person should know about them, as Markdown."""

    def image(self, puzzle: int, place: int) -> bytes:
        """One of the images, as PNG."""
        pixels = self.images[puzzle, place]
        image = Image.fromarray(pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0))
        file = io.BytesIO()
        image.save(file, format="PNG")
        return file.getvalue()


def checksum(images: NDArray[np.uint8]) -> str:
    """The SHA-256 of all pixels in their order, for other programs to compare."""
    return hashlib.sha256(np.ascontiguousarray(images).data).hexdigest()


# ---- which format ----


def writer_of(target: str) -> Callable[[Export], None]:
    """What writes an export to ``target``, a path or hub:FOLDER; refuses what it is not."""
    if target.startswith(HUB):
        _arrow()
        folder = Path(target.removeprefix(HUB))
        return lambda export: write_hub_folder(export, folder)
    path = Path(target)
    if path.suffix.lower() == ".npz":
        return lambda export: write_npz(export, path)
    if path.suffix.lower() == ".parquet":
        _arrow()
        return lambda export: write_parquet(export, path)
    if path.suffix:
        raise FineError(
            f"puzzles cannot be exported to '{target}': give a name that ends in .npz or .parquet, "
            "a folder (which gets PNG and CSV), or hub:FOLDER"
        )
    return lambda export: write_images(export, path)


def read_key(path: Path) -> AnswerKey:
    """The answer key of an export in any format."""
    path = Path(str(path).removeprefix(HUB))
    try:
        key = _reader_of(path)(path)
        if key.about.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        return key
    except FileNotFoundError:
        raise FineError(
            f"{path} is not there: give what `fine puzzles --export` has written"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, zipfile.BadZipFile) as problem:
        raise FineError(
            f"{path} cannot be read as exported puzzles ({problem}): export them again with "
            "`fine puzzles --export`"
        ) from problem


def _reader_of(path: Path) -> Callable[[Path], AnswerKey]:
    if path.is_dir():
        return _key_of_images if (path / _TABLE).exists() else _key_of_hub_folder
    return _key_of_parquet if path.suffix.lower() == ".parquet" else _key_of_npz


# ---- NumPy ----


def write_npz(export: Export, path: Path) -> None:
    """Arrays that NumPy loads without pickle, in any version of Python."""
    rows = export.key.rows()
    arrays = {
        "images": export.images,
        "shown": np.array(export.shown),
        "answers": export.key.answers,
        **{name: np.array([row[name] for row in rows]) for name in COLUMNS},
        "card": np.array(export.card),
        "about": np.array(json.dumps(export.key.about, ensure_ascii=False)),
    }
    arrays["number"] = export.key.numbers
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _key_of_npz(path: Path) -> AnswerKey:
    with open_zip(path, largest=LARGEST_EXPORT, expected="exported puzzles (.npz)") as archive:
        columns = {name: _array(archive, name) for name in COLUMNS}
        if columns["number"].size > MOST_ROWS:
            raise ValueError(f"{columns['number'].size:,} puzzles, more than {MOST_ROWS:,}")
        about = parse_json(str(_array(archive, "about")))
    rows = (
        dict(zip(COLUMNS, map(str, values), strict=True))
        for values in zip(*columns.values(), strict=True)
    )
    return AnswerKey.from_rows(rows, about)


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array of an archive, if its content is as long as its header says."""
    content = read_entry(archive, archive.getinfo(f"{name}.npy"), largest=LARGEST_KEY)
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array of format {version}")
    try:
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    except Exception as problem:  # it is read as Python is, which fails in many ways
        raise ValueError(f"an array '{name}' whose header cannot be read") from problem
    if kind.hasobject or math.prod(shape) * kind.itemsize != len(content) - file.tell():
        raise ValueError(f"an array '{name}' that is not as long as it says")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


# ---- PNG and CSV ----


def write_images(export: Export, folder: Path) -> None:
    """A PNG for every image, and a table with a row for every puzzle."""
    with written_folder(folder) as temporary:
        (temporary / "images").mkdir()
        rows = []
        for puzzle, row in enumerate(export.key.rows()):
            for place, shown in enumerate(export.shown):
                name = f"images/{int(row['number']):06}-{shown}.png"
                (temporary / name).write_bytes(export.image(puzzle, place))
                row[shown] = name
            rows.append(row)
        table = io.StringIO(newline="")
        writer = csv.DictWriter(table, ["number", *export.shown, *COLUMNS[1:]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_json(temporary / _FACTS_FILE, dict(export.key.about))
        write_text(temporary / "README.md", export.card)
        write_text(temporary / _TABLE, table.getvalue())


def _key_of_images(folder: Path) -> AnswerKey:
    text = read_text(folder / _TABLE, largest=LARGEST_KEY, expected="a table of puzzles")
    return AnswerKey.from_rows(parse_table(text), read_json(folder / _FACTS_FILE))


# ---- Parquet, and folders for the hub ----


def write_parquet(export: Export, path: Path) -> None:
    """A table with a row for every puzzle and its images as PNG."""
    arrow = _arrow()
    image = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    fields = [("number", arrow.int64()), *((shown, image) for shown in export.shown)]
    fields += [(name, arrow.string()) for name in COLUMNS[1:]]
    schema = arrow.schema(fields, metadata=_metadata(export))
    with (
        written_whole(path) as temporary,
        arrow.parquet.ParquetWriter(temporary, schema) as writer,
    ):
        for rows in _row_groups(export):
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))


def _row_groups(export: Export) -> Iterator[list[dict[str, Any]]]:
    key_rows = export.key.rows()
    for start in range(0, len(key_rows), _ROWS_AT_ONCE):
        group = []
        for puzzle in range(start, min(start + _ROWS_AT_ONCE, len(key_rows))):
            row: dict[str, Any] = {**key_rows[puzzle], "number": int(key_rows[puzzle]["number"])}
            for place, shown in enumerate(export.shown):
                path = f"{row['number']:06}-{shown}.png"
                row[shown] = {"bytes": export.image(puzzle, place), "path": path}
            group.append(row)
        yield group


def _metadata(export: Export) -> dict[str, str]:
    """What `datasets` calls the columns, and our own facts."""
    features: dict[str, Any] = {"number": {"dtype": "int64", "_type": "Value"}}
    features |= {shown: {"_type": "Image"} for shown in export.shown}
    features |= {name: {"dtype": "string", "_type": "Value"} for name in COLUMNS[1:]}
    return {
        "huggingface": json.dumps({"info": {"features": features}}),
        _FACTS: json.dumps(export.key.about, ensure_ascii=False),
        "card": export.card,
    }


def write_hub_folder(export: Export, folder: Path) -> None:
    """A folder in the layout of a data set on the Hugging Face hub."""
    split = "train" if export.key.about.get("split") == "training" else "test"
    data = f"data/{split}-00000-of-00001.parquet"
    head = f"""---
license: {export.key.about.get("licence", "other")}
task_categories:
- visual-question-answering
tags:
- visual-analogy
- abstract-reasoning
size_categories:
- {_size_category(len(export.key))}
configs:
- config_name: default
  data_files:
  - split: {split}
    path: {data}
---
"""
    with written_folder(folder) as temporary:
        write_parquet(export, temporary / data)
        write_text(temporary / "README.md", head + export.card)


def _size_category(count: int) -> str:
    """The range of sizes, as the hub writes it."""
    for bound, name in ((1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M")):
        if count < bound:
            lower = {"1K": "n", "10K": "1K", "100K": "10K", "1M": "100K"}[name]
            return f"n<{name}" if lower == "n" else f"{lower}<n<{name}"
    return "1M<n<10M"


def _key_of_hub_folder(folder: Path) -> AnswerKey:
    files = sorted((folder / "data").glob("*.parquet"))
    if len(files) != 1:
        raise ValueError(f"{len(files)} files data/*.parquet where one is expected")
    return _key_of_parquet(files[0])


def _key_of_parquet(path: Path) -> AnswerKey:
    arrow = _arrow()
    try:
        with open_regular(path, largest=LARGEST_EXPORT, expected="puzzles (.parquet)") as file:
            table = arrow.parquet.ParquetFile(file)
            if table.metadata.num_rows > MOST_ROWS:
                raise ValueError(f"{table.metadata.num_rows:,} puzzles")
            columns = table.read(columns=list(COLUMNS))
            facts = (table.schema_arrow.metadata or {})[_FACTS.encode()]
    except arrow.ArrowException as problem:
        raise ValueError(problem) from problem
    rows = ({name: str(row[name]) for name in COLUMNS} for row in columns.to_pylist())
    return AnswerKey.from_rows(rows, parse_json(facts))


def _arrow() -> ModuleType:
    """pyarrow, or one line on how to get it."""
    try:
        import pyarrow  # noqa: PLC0415  # heavy, and few need it
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError as problem:
        raise FineError(
            "Parquet and hub folders need pyarrow: `pip install 'functional-indirection[export]'`, "
            "or export to .npz or to a folder of PNG and CSV"
        ) from problem
    return pyarrow
