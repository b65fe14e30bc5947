"""Laws of reading once: a puzzle that was read is answered bit for bit as its files are."""

import pytest
import torch
from PIL.ImageOps import invert as negative

from fine import FINE, FINEConfig, FineError, draw_answer, explain, load, solve
from fine.inference import PuzzleImages, puzzle_images, reading
from fine.inference.puzzle_images import prepared
from support.pillow_puzzles import MATERIALS, puzzle, save


@pytest.mark.slow
@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("name", ["all-glyphs", "affine-cifar"])
def test_what_was_read_is_answered_as_the_files_are(name, material, tmp_path):
    model = load(name)
    files = save([MATERIALS[material](image) for image in puzzle(4)[0]], tmp_path)
    x, y, new, *choices = files
    images = PuzzleImages.read(x, y, new, choices)
    assert solve(model, *images) == solve(model, x, y, new, choices)
    assert explain(model, images.x, images.y) == explain(model, x, y)
    assert torch.equal(images.prepared(model), prepared(model, files))
    drawn = [draw_answer(model, *first_three) for first_three in (images[:3], files[:3])]
    assert drawn[0].rules == drawn[1].rules
    assert torch.equal(drawn[0].pixels, drawn[1].pixels)


def test_every_file_is_opened_once(glyph_model, tmp_path, monkeypatch):
    opened = []
    read_bytes = reading._read_bytes
    monkeypatch.setattr(
        reading, "_read_bytes", lambda path: opened.append(path) or read_bytes(path)
    )
    files = save(puzzle(4)[0], tmp_path)
    images = PuzzleImages.read(*files[:3], files[3:])
    solve(glyph_model, *images)
    explain(glyph_model, images.x, images.y)
    draw_answer(glyph_model, *images[:3])
    images.prepared(glyph_model)
    assert opened == files
    opened.clear()
    solve(glyph_model, *files[:3], files[3:])
    assert opened == files


def test_originals_keep_their_resolution(tmp_path):
    images = PuzzleImages.read(*save(puzzle(4)[0], tmp_path)[:3])
    assert images.choices == () and images.new.shape == (1, 96, 96)
    assert images.prepared(FINE(FINEConfig(), channels=3, size=28)).shape == (3, 3, 28, 28)


def test_images_have_the_size_and_channels_of_the_model():
    colour = [image.convert("RGB") for image in puzzle(8)[0]]
    model = FINE(FINEConfig(), channels=3, size=28)
    assert prepared(model, colour).shape == (7, 3, 28, 28)
    assert prepared(model, puzzle(8)[0][:3]).shape == (3, 3, 28, 28)


def test_a_model_of_colour_sees_drawings_with_bright_ink_on_black():
    model = FINE(FINEConfig(), channels=3, size=32)
    images = [image.convert("RGB") for image in puzzle(8)[0]]
    dark, bright = prepared(model, images), prepared(model, [negative(image) for image in images])
    assert torch.allclose(dark, bright, atol=0.01) and dark[:, :, 0].max() < 0.1


def test_a_white_wall_is_no_paper_if_what_is_uncovered_is_black():
    model = FINE(FINEConfig(), channels=3, size=32)
    images = torch.full((7, 3, 32, 32), 0.9)
    images[:, :, 10:20, 12:24] = 0.3
    images[1], images[3:] = images[1].roll(6, 2), images[3:].roll(6, 3)
    images[1, ..., :6], images[3:, ..., :6] = 0, 0  # moved to the right by six pixels
    assert torch.equal(prepared(model, list(images)), images)


def test_a_model_of_strings_sees_no_images():
    with pytest.raises(FineError, match="reads strings, not images"):
        puzzle_images.prepared(load("all-strings"), puzzle(0)[0])
