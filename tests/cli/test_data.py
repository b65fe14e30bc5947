"""`fine data`, and what all commands say about data that is missing or damaged."""

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fine.images.official import OFFICIAL
from support.commands import TINY
from support.folders import contents


@pytest.mark.parametrize("root", ["empty", "nowhere", "of [/mine]"])
def test_an_empty_data_root_is_shown_as_such_with_what_to_do(fine, root):
    Path("empty").mkdir()
    code, out, err = fine("data", "--data-root", root)
    assert code == 0 and not err and f"data root: {Path(root).absolute()}" in out
    assert out.count("missing") == sum(len(source.files) for source in OFFICIAL.values())
    assert "fine data download NAME" in out and contents(Path()) == {"empty": None}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OFFICIAL))
def test_official_data_is_shown(fine, data_root, name):
    code, out, _ = fine("data", "show", name, "--data-root", data_root)
    assert code == 0 and out.count("present") == len(OFFICIAL[name].files)
    assert "missing" not in out


@pytest.mark.slow
def test_official_data_is_verified(fine, data_root):
    code, out, _ = fine("data", "verify", "cifar100", "mnist", "--data-root", data_root)
    assert code == 0 and "cifar100: whole, 60,000 images of 100 classes, 3 channels" in out
    assert "mnist: whole, 10,000 images of 10 classes, 1 channel\n" in out
    files = [file for name in ("cifar100", "mnist") for file in OFFICIAL[name].files]
    assert all(Path(file).name in out for file in files)


def test_an_unknown_name_of_data_is_refused_before_anything_is_fetched(refused):
    message = refused("data", "download", "mnist", "omniglott", "--data-root", "root")
    assert "'omniglott': did you mean 'omniglot'?" in message


@pytest.mark.parametrize("name", list(OFFICIAL))
@pytest.mark.parametrize(
    "command", [["train", "--out", "run", *TINY], ["puzzles"], ["data", "verify"]]
)
def test_missing_data_is_named_with_the_command_that_gets_it(refused, command, name):
    root = Path("empty").absolute()
    root.mkdir()
    which = [name] if "verify" in command else ["--task", name]
    message = refused(*command, *which, "--data-root", "empty")
    assert f"is missing from the data root {root}: run `fine data download {name}`" in message
    assert any(str(root / file) in message for file in OFFICIAL[name].files)


def cut_omniglot(root: Path) -> Path:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("images_background/Latin/character01/0001_01.png", bytes(5000))
    (root / "omniglot").mkdir(parents=True)
    for name in ("images_evaluation.zip", "images_background.zip"):
        path = root / "omniglot" / name
        path.write_bytes(archive.getvalue()[:3000])
    return path


def cut_cifar(root: Path) -> Path:
    folder = root / "cifar-100-binary"
    folder.mkdir(parents=True)
    names = "\n".join(f"name{number}" for number in range(100))
    (folder / "fine_label_names.txt").write_text(names)
    path = folder / "train.bin"
    path.write_bytes(bytes(3074 * 10 + 5))
    return path


def cut_mnist(root: Path) -> Path:
    (root / "mnist").mkdir(parents=True)
    path = root / "mnist/t10k-images-idx3-ubyte.gz"
    sizes = np.array([10_000, 28, 28], dtype=">i4").tobytes()
    whole = gzip.compress(bytes([0, 0, 8, 3]) + sizes + bytes(7_840_000))
    path.write_bytes(whole[:2000])
    return path


@pytest.mark.parametrize(
    ("name", "cut"), [("omniglot", cut_omniglot), ("cifar100", cut_cifar), ("mnist", cut_mnist)]
)
def test_a_file_cut_short_is_named_with_the_command_that_replaces_it(refused, fine, name, cut):
    path = cut(Path("root").absolute())
    train = ["train", "--out", "run", *TINY, "--task", name]
    for command in (train, ["data", "verify", name]):
        message = refused(*command, "--data-root", "root")
        assert f"{path} is damaged: expected" in message
        assert f"delete it and run `fine data download {name}`" in message
    shown = fine("data", "show", name, "--data-root", "root")
    assert shown.code == 0 and f"{path} is damaged: expected" in shown.out
