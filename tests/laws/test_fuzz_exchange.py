"""Whatever files of other programs hold: a result or one clear line, within limits."""

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fine.benchmarks import read_arc, read_folder
from fine.exchange import evaluate_predictions
from fine.exchange.answer_key import COLUMNS
from support.fuzzing import LEAVES, TEXTS, a_result_or_one_line, damaged, spoilt

pytestmark = pytest.mark.slow

# Tasks of ARC.

PAIR = {"input": [[1, 0], [2, 3]], "output": [[0, 1], [3, 2]]}
TASK = {"train": [PAIR, PAIR], "test": [PAIR]}


@given(spoilt(TASK) | spoilt({"one": TASK, "two": TASK}))
@example("[" * 100_000)
@example('{"train": [{"input": [[1e999]], "output": [[1]]}], "test": []}')
@example(json.dumps({"train": [PAIR] * 100_000, "test": [PAIR]}))  # hours, had it been solved
def test_tasks_of_arc(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "task.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        assert all(len(task.train) <= 100 for task in read_arc(path))


# Puzzles in a table.

CELLS = TEXTS.filter(lambda text: "\ud800" not in text) | st.sampled_from(["x.png", "a" * 300])
COLUMN_NAMES = st.sampled_from(["x", "y", "new", "a", "b", "x2", "answer", "concept"]) | TEXTS


@given(st.lists(COLUMN_NAMES, max_size=8), st.lists(st.lists(CELLS, max_size=8), max_size=3))
@example(["x", "y", "new", "a", "b", "answer"], [["a" * 200_000, "y", "new", "a", "b", "a"]])
@example(["x", "y", "new", "a", "b", "answer"], [["a" * 300, "y", "new", "a", "b", "a"]])
def test_tables_of_puzzles(tmp_path_factory, names, rows):
    path = tmp_path_factory.getbasetemp() / "puzzles.csv"
    text = "\n".join(",".join(row) for row in [names, *rows])
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        read_folder(path)


# Exported puzzles, and answers to them.

ABOUT = {"format": 1, "chance": {"blind": 0.25}, "controls": {"puzzles": 2, "oracle": 1.0}}
KEY: dict[str, list[Any]] = {
    "number": [0, 1],
    "answer": ["A", "B"],
    "kinds": ["0123", "1023"],
    "family": ["rotation", "rotation"],
    "rule": ["rotation by 90°", "rotation by 45°"],
}
ANSWERS = "number,answer\n0,A\n1,B\n"


def stored(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def packed(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


SOUND = {name: stored(np.array(values)) for name, values in KEY.items()}
SOUND["about"] = stored(np.array(json.dumps(ABOUT)))


def with_header(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + content


SIZES = st.integers(0, 5) | st.integers(-3, 2**70)
KINDS = st.sampled_from(["<i8", "<U0", "<U4", "|V0", "<f8", "O", "<M8[D]", "|b1", ">c16"])
HEADERS = st.tuples(KINDS, st.lists(SIZES, max_size=3).map(tuple)).map(
    lambda parts: f"{{'descr': {parts[0]!r}, 'fortran_order': False, 'shape': {parts[1]}}}\n"
) | st.sampled_from(["(" * 9000, "[" * 9000, "-" * 9000 + "1", "{" * 200, "lambda: 0"])


@st.composite
def exports(draw: st.DrawFn) -> bytes:
    """NumPy's archives with one entry damaged, of another type, missing, or with a header alone."""
    entries = dict(SOUND)
    name = draw(st.sampled_from(sorted(entries)))
    act = draw(st.sampled_from(["damage", "header", "values", "about", "drop"]))
    if act == "damage":
        entries[name] = draw(damaged(entries[name]))
    elif act == "header":
        entries[name] = with_header(draw(HEADERS), draw(st.binary(max_size=30)))
    elif act == "values":
        values = draw(st.lists(st.integers(-9, 10**30).map(str) | CELLS, max_size=3))
        entries[name] = stored(np.array(values))
    elif act == "about":
        entries["about"] = stored(np.array(draw(spoilt(ABOUT))))
    else:
        del entries[name]
    return packed(entries)


@given(exports() | damaged(packed(SOUND)))
@example(packed({**SOUND, "about": stored(np.array("[" * 100_000))}))
@example(packed({**SOUND, "number": stored(np.array(["1" + "0" * 30, "2"]))}))
@example(packed({**SOUND, "number": with_header("(" * 9000)}))
@example(packed({**SOUND, "number": with_header("-" * 9000 + "1")}))
@example(packed({name: stored(np.zeros(9_000_000)) for name in SOUND}))  # 70 kB each
def test_exports(tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp()
    (folder / "export.npz").write_bytes(content)
    (folder / "answers.csv").write_text(ANSWERS)
    with a_result_or_one_line():
        predictions = evaluate_predictions(folder / "answers.csv", folder / "export.npz")
        json.dumps(predictions.summary(), allow_nan=False)
        predictions.levels()


LINES = st.lists(LEAVES.map(str)).map(lambda lines: "\n".join(lines).encode("utf-8", "replace"))


@given(damaged(ANSWERS.encode()) | LINES)
@example(b"number,answer\n" + b"1" * 200_000)  # a cell longer than Python's reader takes
def test_answers(tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp()
    (folder / "sound.npz").write_bytes(packed(SOUND))
    (folder / "answers.csv").write_bytes(content)
    with a_result_or_one_line():
        evaluate_predictions(folder / "answers.csv", folder / "sound.npz").summary()


@given(spoilt(ABOUT), st.sampled_from(COLUMNS), CELLS)
def test_folders_of_images(tmp_path_factory, about, name, cell):
    folder = tmp_path_factory.getbasetemp() / "export"
    folder.mkdir(exist_ok=True)
    rows = [dict(zip(KEY, row, strict=True)) for row in zip(*KEY.values(), strict=True)]
    rows[1][name] = cell
    text = "\n".join(",".join(map(str, row)) for row in (KEY, *(row.values() for row in rows)))
    (folder / "puzzles.csv").write_text(text, encoding="utf-8", errors="surrogatepass")
    (folder / "puzzles.json").write_text(about, encoding="utf-8", errors="surrogatepass")
    (folder.parent / "answers.csv").write_text(ANSWERS)
    with a_result_or_one_line():
        evaluate_predictions(Path(folder.parent / "answers.csv"), folder)
