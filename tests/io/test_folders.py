import pytest

from fine.errors import FineError
from fine.io.folders import written_folder


def test_a_folder_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "deep" / "out"
    with written_folder(path) as temporary:
        (temporary / "a").write_text("1")
        assert not path.exists()
    assert [file.name for file in path.iterdir()] == ["a"]
    assert [folder.name for folder in path.parent.iterdir()] == ["out"]


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "out").mkdir()
    with written_folder(tmp_path / "out") as temporary:
        (temporary / "a").write_text("1")
    assert (tmp_path / "out" / "a").exists()


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ValueError])
def test_a_failure_leaves_nothing(tmp_path, problem):
    def fail() -> None:
        with written_folder(tmp_path / "out") as temporary:
            (temporary / "a").write_text("1")
            raise problem

    with pytest.raises(problem):
        fail()
    assert not [*tmp_path.iterdir()]


def test_a_full_disk_is_one_line(tmp_path):
    with pytest.raises(FineError, match="the disk is full"), written_folder(tmp_path / "out"):
        raise OSError(28, "No space left on device")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("kind", ["file", "full folder", "link"])
def test_nothing_is_overwritten(tmp_path, kind):
    path = tmp_path / "out"
    if kind == "file":
        path.write_text("mine")
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.mkdir()
        (path / "mine").touch()
    with pytest.raises(FineError, match="is there already"), written_folder(path):
        pass
