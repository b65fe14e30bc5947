"""Folders of files: names, faults, what is there already, and what is stopped."""

import errno
import json
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fine.apply import Settings, apply_to_files, list_files
from fine.apply import batch as batch_module
from fine.apply.record import NAME
from fine.errors import FineError
from fine.io.locks import locked
from support.point_maps import MIRROR, Wave, rotation


def image(path: Path, level: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(level).integers(256, size=(20, 30, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return path


@pytest.fixture
def photos(tmp_path) -> Path:
    for number, name in enumerate(("a.png", "b.jpg", "deep/er/c.PNG", "deep/d.webp")):
        image(tmp_path / "photos" / name, number)
    (tmp_path / "photos" / "notes.txt").write_text("no image")
    (tmp_path / "photos" / ".hidden.png").write_bytes(b"")
    return tmp_path / "photos"


def files(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def run(photos: Path, out: Path, point_map=MIRROR, **options):
    settings = options.pop("settings", Settings())
    return apply_to_files(point_map, [photos], out, settings, **options)


@pytest.mark.parametrize("jobs", [1, 2])
def test_names_mirror_the_input_tree(photos, tmp_path, jobs):
    seen = []
    summary = run(
        photos, tmp_path / "done", jobs=jobs, progress=lambda *step: seen.append(step[:2])
    )
    assert files(tmp_path / "done") == ["a.png", "b.jpg", "deep/d.webp", "deep/er/c.PNG"]
    assert (summary.done, summary.skipped, summary.left, summary.failures) == (4, 0, 0, [])
    assert summary.others == {".txt": 1} and seen == [(n, 4) for n in (1, 2, 3, 4)]
    before, after = (np.asarray(Image.open(f / "a.png")) for f in (photos, tmp_path / "done"))
    assert np.array_equal(after, before[:, ::-1])


def test_several_inputs_have_folders_of_their_own(photos, tmp_path):
    other = image(tmp_path / "more" / "a.png").parent
    single = image(tmp_path / "single.any.png")
    targets = list_files([photos, other, single], tmp_path / "done").targets
    names = {path.relative_to(tmp_path / "done").as_posix() for path in targets.values()}
    assert {"photos/a.png", "more/a.png", "single.any.png", "photos/deep/d.webp"} <= names


def test_what_is_there_is_not_drawn_again(photos, tmp_path):
    run(photos, tmp_path / "done")
    (tmp_path / "done" / "b.jpg").unlink()
    kept = (tmp_path / "done" / "a.png").stat().st_mtime_ns
    summary = run(photos, tmp_path / "done")
    assert (summary.done, summary.skipped) == (1, 3)
    assert (tmp_path / "done" / "a.png").stat().st_mtime_ns == kept


def test_results_of_another_rule_are_neither_mixed_nor_replaced_unasked(photos, tmp_path):
    out = tmp_path / "done"
    run(photos, out, name="a mirror")
    mirrored = (out / "a.png").read_bytes()
    for other in ({"point_map": rotation(20)}, {"settings": Settings(canvas="expand")}):
        with pytest.raises(FineError, match="holds results of a mirror, or of other settings"):
            run(photos, out, **other)
    assert (out / "a.png").read_bytes() == mirrored
    summary = run(photos, out, rotation(20), overwrite=True)
    assert summary.done == 4 and (out / "a.png").read_bytes() != mirrored
    assert run(photos, out, rotation(20)).skipped == 4


def test_replacing_that_was_stopped_is_not_taken_for_finished(photos, tmp_path):
    out = tmp_path / "done"
    run(photos, out)

    def stop(done: int, total: int, path: Path) -> None:
        raise KeyboardInterrupt

    summary = run(photos, out, rotation(20), overwrite=True, jobs=1, progress=stop)
    assert summary.stopped and summary.left
    with pytest.raises(FineError, match="old and new results"):
        run(photos, out, rotation(20))
    assert run(photos, out, rotation(20), overwrite=True).done == 4


def test_a_fault_in_one_file_stops_no_other(photos, tmp_path):
    (photos / "broken.png").write_bytes((photos / "a.png").read_bytes()[:300])
    (photos / "empty.png").write_bytes(b"")
    summary = run(photos, tmp_path / "done")
    assert summary.done == 4 and len(summary.failures) == 2
    said = sorted(failure.error for failure in summary.failures)
    assert "broken.png is not an image that can be read" in said[0]
    assert "empty.png is empty" in said[1]
    assert len(files(tmp_path / "done")) == 4


def test_a_folder_of_faults_leaves_no_empty_folders(tmp_path):
    (tmp_path / "photos" / "deep").mkdir(parents=True)
    (tmp_path / "photos" / "deep" / "a.png").write_bytes(b"x")
    assert len(run(tmp_path / "photos", tmp_path / "done").failures) == 1
    assert not (tmp_path / "done" / "deep").exists()


def test_what_is_stopped_goes_on(photos, tmp_path):
    def stop(done: int, total: int, path: Path) -> None:
        raise KeyboardInterrupt

    summary = run(photos, tmp_path / "done", jobs=1, progress=stop)
    assert summary.stopped and summary.left and summary.done + summary.left == 4
    assert len(files(tmp_path / "done")) == summary.done
    rest = run(photos, tmp_path / "done")
    assert (rest.done, rest.skipped) == (summary.left, summary.done)


def test_a_full_disk_ends_it(photos, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    summary = run(photos, tmp_path / "done", jobs=1)
    assert summary.done == 0 and summary.left == 3 and len(summary.failures) == 1
    assert "the disk is full" in summary.failures[0].error


def test_what_a_killed_process_left_is_removed(photos, tmp_path):
    out = tmp_path / "done"
    out.mkdir()
    result, record, foreign = (
        out / name for name in (".a.png.123.part", "..fine-apply.json.123.part", ".mine.part")
    )
    for file in (result, record, foreign):
        file.write_bytes(b"precious")
    run(photos, out)
    assert not result.exists() and not record.exists() and foreign.read_bytes() == b"precious"


def test_originals_are_never_replaced(photos, tmp_path):
    with pytest.raises(FineError, match="is the output folder too"):
        run(photos, photos, overwrite=True)
    with pytest.raises(FineError, match="originals are never replaced"):
        apply_to_files(MIRROR, [photos / "a.png"], photos, Settings(), overwrite=True)
    summary = run(photos, photos / "done")  # which is not read as input the next time
    assert summary.done == 4 and run(photos, photos / "done").skipped == 4


def test_two_results_of_one_name_are_refused(photos, tmp_path):
    other = image(tmp_path / "x" / "a.png")
    with pytest.raises(FineError, match="would both be written to"):
        list_files([photos / "a.png", other], tmp_path / "done")


def test_one_process_at_a_time(photos, tmp_path):
    with locked(tmp_path / "done"), pytest.raises(FineError, match="is working in"):
        run(photos, tmp_path / "done")


@pytest.mark.parametrize("missing", ["nothing", "empty"])
def test_nothing_to_do_is_an_error(missing, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FineError, match=r"missing|no images"):
        run(tmp_path / missing, tmp_path / "done")
    assert not (tmp_path / "done").exists()


def test_a_link_in_the_place_of_a_result_is_not_followed(photos, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "a.png").symlink_to(precious)
    summary = run(photos, tmp_path / "done", overwrite=True)
    assert precious.read_text() == "precious" and "is a link" in summary.failures[0].error


def test_a_folder_that_is_a_link_out_of_the_output_folder_is_refused(photos, tmp_path):
    image(tmp_path / "elsewhere" / "precious.png")
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FineError, match="deep is a link that leads out of the output folder"):
        run(photos, tmp_path / "done")
    assert files(tmp_path / "elsewhere") == ["precious.png"]
    (tmp_path / "real").mkdir()
    (tmp_path / "shortcut").symlink_to(tmp_path / "real")  # your own --out may be a link
    assert run(photos, tmp_path / "shortcut").done == 4 and len(files(tmp_path / "real")) == 4


def test_a_link_to_itself_is_a_fault_of_its_own(photos, tmp_path):
    (photos / "loop.png").symlink_to("loop.png")
    summary = run(photos, tmp_path / "done")
    assert summary.done == 4 and [one.file.name for one in summary.failures] == ["loop.png"]


def test_no_more_files_are_in_work_than_jobs(photos, tmp_path, monkeypatch):
    for number in range(12):
        image(photos / f"more{number}.png")
    working, most, lock = [0], [0], threading.Lock()
    real = batch_module.apply_to_file

    def counted(*arguments: object) -> object:
        with lock:
            working[0] += 1
            most[0] = max(most[0], working[0])
        try:
            return real(*arguments)
        finally:
            with lock:
                working[0] -= 1

    monkeypatch.setattr(batch_module, "apply_to_file", counted)
    assert run(photos, tmp_path / "done", Wave(), jobs=3).done == 16
    assert most[0] <= 3


def test_a_record_says_what_was_done(photos, tmp_path):
    run(photos, tmp_path / "done", name="rotation 20°")
    record = json.loads((tmp_path / "done" / NAME).read_text())
    assert record["rule"] == "rotation 20°" and record["settings"]["canvas"] == "keep"
