"""Images by the name of their source: names, sizes, data roots, and what is not there."""

from pathlib import Path

import platformdirs
import pytest

from fine.errors import FineError
from fine.images import SOURCES, load_images
from fine.images.official import OFFICIAL, find_data_root
from fine.images.sources import READERS
from support.image_files import one_line


def test_an_unknown_source_gets_a_suggestion() -> None:
    with pytest.raises(FineError) as error:
        load_images("omniglott")
    one_line(
        error, "omniglott", "did you mean 'omniglot'?", "cifar100", "mnist", "glyphs", "folder:PATH"
    )


@pytest.mark.parametrize("name", ["", "mnist:x", "../mnist", "official", "folder", "folder:"])
def test_a_bad_name_is_one_line(name: str) -> None:
    with pytest.raises(FineError) as error:
        load_images(name)
    one_line(error, "folder:PATH")


def test_only_two_sizes_are_offered() -> None:
    with pytest.raises(FineError) as error:
        load_images("glyphs", size=64)
    one_line(error, "64", "32, 28")


def test_the_argument_comes_before_the_environment_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINE_DATA", str(tmp_path / "environment"))
    assert find_data_root(tmp_path / "argument") == tmp_path / "argument"
    assert find_data_root() == tmp_path / "environment"
    monkeypatch.setenv("FINE_DATA", "")
    assert find_data_root() == Path(platformdirs.user_cache_dir("fine"))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("omniglot", "images_background.zip"),
        ("cifar100", "fine_label_names.txt"),
        ("mnist", "t10k-images-idx3-ubyte.gz"),
    ],
)
def test_a_missing_file_names_itself_the_root_and_the_remedy(
    name: str, file: str, tmp_path: Path
) -> None:
    with pytest.raises(FineError) as error:
        load_images(name, data_root=tmp_path)
    one_line(
        error,
        file,
        f"data root {tmp_path}:",
        f"`fine data download {name}`",
        "FINE_DATA",
        "--data-root",
    )


@pytest.mark.parametrize("name", ["omniglot", "cifar100", "mnist"])
def test_a_data_root_that_is_a_file_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FineError) as error:
        load_images(name, data_root=tmp_path / "file")
    one_line(error, str(tmp_path / "file"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"), [("cifar100", (60_000, 3, 28, 28)), ("mnist", (10_000, 1, 28, 28))]
)
def test_sources_come_in_28(name: str, shape: tuple[int, ...], data_root: Path) -> None:
    assert load_images(name, size=28, data_root=data_root).pixels.shape == shape


def test_loading_twice_is_loading_once(data_root: Path) -> None:
    assert load_images("mnist", data_root=data_root) is load_images("mnist", data_root=data_root)


def test_every_official_source_has_a_reader() -> None:
    assert list(READERS) == list(OFFICIAL)
    assert SOURCES == ("omniglot", "cifar100", "mnist", "cutouts", "glyphs", "folder:PATH")
