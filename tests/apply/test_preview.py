"""The contact sheet shows nine images and their results, and writes nothing."""

from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

from fine.apply import Settings, draw_preview, list_files
from support.point_maps import MIRROR, rotation


def halves(path: Path, mode: str = "RGB") -> None:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", (120, 80), (255, 0, 0))
    image.paste((0, 0, 255), (60, 0, 120, 80))
    path.parent.mkdir(exist_ok=True)
    image.convert(mode).save(path)


def test_images_stand_beside_their_results(tmp_path):
    halves(tmp_path / "photos" / "a.png")
    listing = list_files([tmp_path / "photos"], tmp_path / "done")
    sheet = np.asarray(draw_preview(MIRROR, listing, Settings(), "a mirror")).astype(int)
    row = sheet[sheet.shape[0] // 2]
    colours = ["red" if r > 200 > g else "blue" if b > 200 > r else "" for r, g, b in row]
    seen = [colour for colour, _ in groupby(colours) if colour]
    assert seen == ["red", "blue", "blue", "red"]
    assert not (tmp_path / "done").exists()


def test_of_many_files_nine_are_shown_and_a_broken_one_says_so(tmp_path):
    for number in range(20):
        halves(tmp_path / "photos" / f"{number:02}.png", ("RGB", "L", "RGBA", "P")[number % 4])
    (tmp_path / "photos" / "00.png").write_bytes(b"broken")
    Image.fromarray(np.full((9, 9), 40_000, dtype=np.uint16)).save(tmp_path / "photos" / "06.png")
    listing = list_files([tmp_path / "photos"], tmp_path / "done")
    few = draw_preview(rotation(20), listing, Settings(canvas="expand"), "rotation")
    one = list_files([tmp_path / "photos" / "01.png"], tmp_path / "done")
    small = draw_preview(rotation(20), one, Settings(), "rotation")
    assert few.width == 3 * small.width and few.height > 2 * small.height
