"""Every format holds the same pixels and the same answers, and says where they come from."""

import csv
import hashlib
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fine.errors import FineError
from fine.exchange import evaluate_predictions, export_puzzles
from fine.exchange.formats import read_key
from fine.puzzles.task import Task
from fine.puzzles.variants import make_variant
from fine.version import __version__

COUNT = 6
SHOWN = ["x", "y", "new", "A", "B", "C", "D"]


def export(task: Task, target: str, folder: Path, **options) -> Path:
    prefix, _, name = target.rpartition(":")
    path = folder / name
    export_puzzles(task, f"{prefix}:{path}" if prefix else path, count=COUNT, **options)
    return path


def channels_first(image: Image.Image) -> np.ndarray:
    pixels = np.asarray(image)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def pixels_of(path: Path) -> np.ndarray:
    """The pixels of an export, read without anything of this package."""
    if path.suffix == ".npz":
        return np.load(path)["images"]
    if path.is_dir() and (path / "puzzles.csv").exists():
        rows = csv.DictReader(io.StringIO((path / "puzzles.csv").read_text(encoding="utf-8")))
        files = [[(path / row[name]).read_bytes() for name in SHOWN] for row in rows]
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        file = path if path.is_file() else next((path / "data").glob("*.parquet"))
        rows = parquet.read_table(file).to_pylist()
        files = [[row[name]["bytes"] for name in SHOWN] for row in rows]
    return np.array(
        [[channels_first(Image.open(io.BytesIO(file))) for file in row] for row in files]
    )


NEEDING_ARROW = ["out.parquet", "hub:out"]


@pytest.fixture(params=["out.npz", "out", *NEEDING_ARROW])
def exported(request, task, tmp_path) -> Path:
    if request.param in NEEDING_ARROW:
        pytest.importorskip("pyarrow")
    return export(task, request.param, tmp_path)


@pytest.fixture(scope="module")
def expected(task) -> tuple:
    puzzles = replace(task, test_count=COUNT).test_puzzles()
    images = puzzles.render(range(COUNT)).images.mul(255).round().byte().numpy()
    return images, puzzles


@pytest.mark.slow
def test_pixels_answers_and_facts_are_the_same_in_every_format(exported, expected):
    images, puzzles = expected
    assert np.array_equal(pixels_of(exported), images)
    key = read_key(exported)
    assert key.answers.tolist() == puzzles.answers.tolist()
    assert key.kinds.tolist() == puzzles.kinds.tolist()
    assert list(key.rules) == [str(puzzles.rules.rules[rule]) for rule in puzzles.hidden]
    assert key.about["sha256"] == hashlib.sha256(images.tobytes()).hexdigest()
    assert (key.about["fine"], key.about["split"]) == (__version__, "test")
    assert key.about["controls"]["oracle"] > 0.9
    letters = {number: "ABCD"[answer] for number, answer in enumerate(puzzles.answers)}
    assert evaluate_predictions(letters, exported).accuracy == 1


@pytest.mark.slow
@pytest.mark.parametrize("target", ["out.npz", "out"])
def test_the_card_says_what_they_are(task, tmp_path, target):
    path = export(task, target, tmp_path, split="training", seed=3, start=40)
    text = (path / "README.md").read_text() if path.is_dir() else str(np.load(path)["card"])
    for fact in ("training puzzles of seed 3", "Numbers 40 to 45", "fine score", "25.0%"):
        assert fact in text
    assert f"fine {__version__}" in text and "`rotation`" in text and "20 classes" in text
    assert read_key(path).numbers.tolist() == list(range(40, 46))


@pytest.mark.slow
def test_an_export_is_the_same_bytes_again(task, tmp_path):
    one, other = (export(task, name, tmp_path) for name in ("1.npz", "2.npz"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown", "choices"),
    [
        ("chain", ["x1", "y1", "x2", "y2", "new", "A", "B", "C", "D"], 4),
        ("odd-one-out", ["x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"], 4),
    ],
)
def test_variants_are_exported_too(task, tmp_path, name, shown, choices):
    path = export(task, "out.npz", tmp_path, variant=make_variant(name))
    content = np.load(path)
    assert content["shown"].tolist() == shown and content["images"].shape[1] == len(shown)
    assert read_key(path).kinds.shape == (COUNT, choices)


@pytest.mark.slow
def test_a_card_does_not_say_where_files_are(noisy_images, tmp_path):
    task = Task.preset(f"folder:{noisy_images}", rules="rotation")
    path = export(task, "out", tmp_path)
    texts = [(path / name).read_text() for name in ("README.md", "puzzles.json")]
    assert not [text for text in texts if str(tmp_path) in text]


@pytest.mark.slow
def test_hugging_face_datasets_shows_images(task, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    path = export(task, "hub:out", tmp_path)
    loaded = datasets.load_dataset(str(path), cache_dir=str(tmp_path / "cache"))["test"]
    assert len(loaded) == COUNT and loaded[0]["answer"] in "ABCD"
    shown = np.array([[channels_first(row[name]) for name in SHOWN] for row in loaded])
    assert np.array_equal(shown, pixels_of(path))


@pytest.mark.parametrize("target", ["out.csv", "out.jpg"])
def test_another_format_is_refused(task, tmp_path, target):
    with pytest.raises(FineError, match=r"ends in \.npz or \.parquet, a folder"):
        export(task, target, tmp_path)


def test_strings_and_unknown_splits_are_refused(task, tmp_path):
    with pytest.raises(FineError, match="no pixels to export"):
        export(Task(images="strings", rules="all"), "out.npz", tmp_path)
    with pytest.raises(FineError, match="did you mean 'training'"):
        export(task, "out.npz", tmp_path, split="trainin")


def damaged(path: Path, about: object) -> None:
    rows = {"number": np.arange(2), "answer": np.array(["A", "B"]), "kinds": np.array(["01", "10"])}
    words = {"family": np.array(["f", "f"]), "rule": np.array(["r", "r"])}
    np.savez(path, **rows, **words, about=np.array(json.dumps(about)))


def test_what_is_no_export_is_refused_in_one_line(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.npz").write_text("no zip")
    damaged(tmp_path / "old.npz", {"format": 2})
    damaged(tmp_path / "chance.npz", {"format": 1, "chance": {"blind": "high"}})
    damaged(tmp_path / "controls.npz", {"format": 1, "controls": [0.5]})
    damaged(tmp_path / "list.npz", [1])
    np.savez(tmp_path / "other.npz", images=np.zeros(3))
    np.savez(tmp_path / "objects.npz", number=np.array([{}], dtype=object))
    names = ["missing", "text", "old", "chance", "controls", "list", "other", "objects"]
    for name in ("folder", *(f"{name}.npz" for name in names)):
        with pytest.raises(FineError, match="fine puzzles --export") as refusal:
            read_key(tmp_path / name)
        assert "\n" not in str(refusal.value)


def test_a_header_that_lies_about_its_length_is_refused(tmp_path):
    damaged(tmp_path / "good.npz", {"format": 1})
    assert read_key(tmp_path / "good.npz").answers.tolist() == [0, 1]
    lie = b"'shape': (9000000000,), }"
    with (
        zipfile.ZipFile(tmp_path / "good.npz") as good,
        zipfile.ZipFile(tmp_path / "long.npz", "w") as long,
    ):
        for name in good.namelist():
            content = good.read(name)
            truth = b"'shape': (2,), }".ljust(len(lie))
            long.writestr(name, content.replace(truth, lie))
    with pytest.raises(FineError, match="'number' that is not as long as it says"):
        read_key(tmp_path / "long.npz")
