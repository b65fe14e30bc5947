"""Laws of reading images: they are read as people see them, and what is no image is refused."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps

from fine import FineError, read_image
from fine.inference import reading
from fine.inference.reading import read_images, squared
from support.bombs import png, with_scans
from support.fuzzing import limits
from support.odd_files import odd_files, without_waiting


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format=kind, **options)
    return file.getvalue()


def test_all_kinds_of_sources_give_the_same_image(drawing, tmp_path):
    path = tmp_path / "drawing.png"
    drawing.save(path)
    array = np.asarray(drawing)
    wanted = torch.from_numpy(array.copy())[None] / 255
    files = (path, str(path), path.read_bytes())
    arrays = (array, array / 255.0, array[..., None])
    for source in (*files, drawing, *arrays, wanted, wanted[0]):
        assert torch.allclose(read_image(source), wanted, atol=1e-6)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV"])
def test_a_drawing_looks_the_same_in_every_mode(drawing, mode):
    clean = drawing.point(lambda value: 255 * (value > 127))
    by_colour = mode in ("HSV", "YCbCr", "CMYK")  # Pillow converts to these from RGB alone
    image = read_image((clean.convert("RGB") if by_colour else clean).convert(mode))
    assert image.shape[0] == (1 if mode in ("1", "L", "LA") else 3)
    assert (image.mean(0) - torch.from_numpy(np.asarray(clean) / 255)).abs().max() < 0.01


@pytest.mark.parametrize("ink", [(0, 0, 0), (255, 255, 255), (200, 30, 30), (255, 230, 60)])
@pytest.mark.parametrize("palette", [False, True])
def test_a_drawing_on_a_transparent_ground_does_not_vanish(drawing, ink, palette):
    image = Image.new("RGBA", drawing.size, (*ink, 0))
    image.paste((*ink, 255), mask=ImageOps.invert(drawing))
    source = encoded(image.quantize(16) if palette else image)
    seen = read_image(source).mean(0)
    strokes = torch.from_numpy(np.asarray(drawing) < 10)
    assert (seen[strokes].mean() - seen[~strokes].mean()).abs() > 0.4


def test_half_transparent_ink_is_half_as_dark():
    image = np.zeros((8, 8, 4), dtype=np.uint8)
    image[:4, :, 3], image[4:, :, 3] = 255, 51
    assert read_image(image)[:, :4].max() == 0
    assert torch.allclose(read_image(image)[:, 4:], torch.tensor(0.8))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_is_rotated_as_its_exif_data_says(drawing, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = encoded(drawing, exif=exif)
    tagged = Image.open(io.BytesIO(content))
    assert torch.equal(read_image(content), read_image(ImageOps.exif_transpose(tagged)))
    as_stored = torch.equal(read_image(content), read_image(drawing))
    assert as_stored == (orientation == 1)


def test_sixteen_bits_are_scaled_and_not_clipped(drawing):
    deep = Image.fromarray(np.asarray(drawing).astype(np.uint16) * 257)
    assert deep.mode.startswith("I;16")
    assert torch.allclose(read_image(encoded(deep)), read_image(drawing), atol=1e-4)


def test_of_an_animation_the_first_frame_counts(drawing):
    others = [ImageOps.invert(drawing), drawing.rotate(90)]
    for kind in ("GIF", "WEBP", "PNG"):
        options = {"lossless": True} if kind == "WEBP" else {}
        frames = {"save_all": True, "append_images": others, "duration": 50}
        content = encoded(drawing, kind, **frames, **options)
        assert (read_image(content).mean(0) - read_image(drawing)[0]).abs().max() < 0.02


@pytest.mark.parametrize(
    ("size", "side"),
    [((40, 90), 90), ((90, 40), 90), ((1, 7), 7), ((3, 3), 3), ((1500, 700), 512)],
)
def test_an_image_that_is_not_square_is_padded_in_the_colour_of_its_border(size, side):
    read = read_image(Image.new("RGB", size, (250, 240, 200)))
    assert read.shape == (3, side, side)
    colour = torch.tensor([250, 240, 200]).view(3, 1, 1) / 255
    assert torch.allclose(read, colour, atol=1e-3)


def test_nothing_of_a_long_image_is_lost():
    tall = np.full((60, 20), 255, dtype=np.uint8)
    tall[[2, -3]] = 0  # a line near each end
    read = read_image(tall)[0]
    assert read.shape == (60, 60)
    assert (read[[2, -3]][:, 20:40] == 0).all() and (read == 0).sum() == 40


def test_a_large_image_keeps_its_brightness():
    noise = np.random.default_rng(0).integers(256, size=(900, 900), dtype=np.uint8)
    assert read_image(noise).shape == (1, 512, 512)
    assert read_image(noise).mean() == pytest.approx(noise.mean() / 255, abs=2e-3)


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is this large."""

    def chunk(name: bytes, content: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + checksum

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0" * 100))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "is empty"),
        (b"no image", "not an image that can be read"),
        (bomb(30_000, 30_000), "more than 50 megapixels"),
        (bomb(8_000, 8_000), "more than 50 megapixels"),
        (bomb(40, 40), "not an image that can be read"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "not an image that can be read"),
        ("nowhere.png", "nowhere.png is missing"),
        (Path(__file__).parent, "is a folder"),
        (with_scans(2_000), "scans, which take too long"),
        (np.zeros((4, 4, 7)), "shape (4, 4, 7)"),
        (np.zeros((0, 4)), "shape (0, 4)"),
        (np.full((4, 4), 255.0), "between 0 and 1"),
        (np.full((4, 4), np.nan), "between 0 and 1"),
        (np.zeros((4, 4), dtype=np.int32), "int32"),
        (torch.zeros(2, 1, 4, 4), "shape (2, 1, 4, 4)"),
        (Image.new("F", (4, 4)), "32 bits a pixel"),
        (7, "a int is no image"),
    ],
)
def test_what_is_no_image_is_refused_in_one_line(source, message):
    with pytest.raises(FineError) as problem:
        read_image(source)
    assert message in str(problem.value) and "\n" not in str(problem.value)


def test_a_tensor_that_learns_can_be_read():
    image = torch.rand(1, 8, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(read_image(image.clone().requires_grad_()), image)
    assert torch.equal(read_image(image[0].clone().requires_grad_()), image)


@odd_files
def test_what_is_no_file_is_refused_without_waiting(tmp_path, make):
    make(tmp_path / "image.png")
    with without_waiting(), pytest.raises(FineError) as problem:
        read_image(tmp_path / "image.png")
    assert str(tmp_path / "image.png") in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize("size", [(30_000, 1), (1, 30_000), (20_000, 20)])
def test_a_line_is_reduced_before_it_is_padded_to_a_square(size):
    """Its square would take gigabytes: a PNG of 138 bytes once took seven."""
    content = png(*size, bits=16)
    assert len(content) < 2_000
    with limits():
        assert read_image(content).shape == (1, 512, 512)


def test_nothing_of_a_line_is_lost():
    line = np.zeros((1, 30_000), dtype=np.uint16)
    line[0, 20_000:] = 65_535
    read = read_image(line)[0]
    assert read.shape == (512, 512)
    row = read[256 - 1 : 256 + 1].sum(0)  # the line is in the middle, thinner than a pixel
    assert (row[350:] > row[:330].max()).all()


def test_a_long_image_is_reduced_first_only_if_its_square_would_be_too_large(monkeypatch):
    """All others are read as before, bit for bit."""
    monkeypatch.setattr(reading, "_PADDED_LIMIT", 999**2)
    long = np.random.default_rng(0).integers(65_536, size=(40, 999), dtype=np.uint16)
    image = torch.from_numpy(long.astype(np.float32) / np.float32(65_535))[None]
    at_border = torch.ones(40, 999, dtype=torch.bool)
    at_border[2:-2, 2:-2] = False
    ground = image[:, at_border].median(dim=1).values[:, None, None]
    top = (999 - 40) // 2
    square = F.pad(image - ground, (0, 0, top, 999 - 40 - top)) + ground
    wanted = F.interpolate(square[None], size=(512, 512), mode="area")[0]
    assert torch.equal(read_image(long), wanted)
    longer = np.concatenate((long, long[:, :1]), axis=1)
    assert read_image(longer).shape == (1, 512, 512)
    assert not torch.equal(read_image(longer), wanted)


def test_a_pillow_image_that_cannot_be_loaded_is_one_line(drawing, tmp_path):
    whole = encoded(drawing)
    closed = Image.open(io.BytesIO(whole))
    closed.close()
    truncated = Image.open(io.BytesIO(whole[: len(whole) // 2]))
    gone = tmp_path / "gone.png"
    gone.write_bytes(whole)
    with Image.open(gone) as left:
        pass
    for image in (closed, truncated, left):
        with pytest.raises(FineError, match="the Pillow image cannot be read") as problem:
            read_image(image)
        assert "\n" not in str(problem.value)


def test_premultiplied_transparency_is_read(drawing):
    image = Image.new("LA", drawing.size, (0, 0))
    image.paste((0, 255), mask=ImageOps.invert(drawing).point(lambda value: 255 * (value > 127)))
    assert torch.equal(read_image(image.convert("La")), read_image(image))
    colour = image.convert("RGBA")
    assert torch.equal(read_image(colour.convert("RGBa")), read_image(colour))


def test_a_pillow_image_stays_as_it_was(drawing):
    large = drawing.resize((3_000, 2_500))
    read_image(large)
    assert large.size == (3_000, 2_500)


def test_tensors_that_hold_no_image_are_one_line():
    for tensor in (torch.zeros(1, 4, 4, device="meta"), torch.zeros(4, 4).to_sparse()):
        with pytest.raises(
            FineError, match=r"tensor of torch\.float32 on .* is no image"
        ) as problem:
            read_image(tensor)
        assert "\n" not in str(problem.value)


def test_a_tensor_of_half_precision_is_read():
    image = torch.rand(1, 8, 8, generator=torch.Generator().manual_seed(0))
    for kind in (torch.bfloat16, torch.float16):
        assert torch.equal(read_image(image.to(kind)), image.to(kind).float())


# Images of one puzzle


def on_nothing(drawing: Image.Image, ink: int) -> Image.Image:
    """A drawing in one grey on a transparent ground."""
    image = Image.new("LA", drawing.size, (ink, 0))
    image.paste((ink, 255), mask=ImageOps.invert(drawing))
    return image


@pytest.mark.parametrize("inks", [(20, 200), (200, 20), (120, 140, 140), (0, 255, 90)])
def test_transparent_images_of_a_puzzle_lie_on_one_paper(drawing, inks):
    """Each by itself, bright ones would lie on black and dark ones on white."""
    images = read_images([on_nothing(drawing, ink) for ink in inks])
    corners = {round(float(image[0, 0, 0]), 3) for image in images}
    assert len(corners) == 1 and corners <= {0.0, 1.0}


def test_the_paper_is_that_on_which_the_faintest_image_shows_best(drawing):
    for inks, paper in (((20, 140), 1.0), ((240, 140), 0.0)):
        for image in read_images([on_nothing(drawing, ink) for ink in inks]):
            assert float(image[0, 0, 0]) == paper


def test_transparent_images_lie_on_the_paper_of_opaque_ones(drawing):
    bright = on_nothing(drawing, 200)
    assert float(read_images([bright])[0][0, 0, 0]) == 0
    assert float(read_images([drawing, bright])[1][0, 0, 0]) == 1
    assert float(read_images([ImageOps.invert(drawing), on_nothing(drawing, 20)])[1][0, 0, 0]) == 0


def test_images_of_a_puzzle_keep_their_shapes():
    shapes = [(40, 90), (90, 40), (33, 33), (1500, 700)]
    images = read_images([Image.new("L", shape, 255) for shape in shapes])
    assert [tuple(image.shape[1:]) for image in images] == [
        (90, 40),
        (40, 90),
        (33, 33),
        (239, 512),
    ]


def test_images_of_a_puzzle_are_padded_in_the_colour_of_the_first():
    white, grey = (np.full((20, 40), shade, dtype=np.uint8) for shade in (255, 100))
    padded = squared(read_images([white, grey]))
    assert all(image.shape == (1, 40, 40) and image[0, 0, 0] == 1 for image in padded)
    assert float(padded[1][0, 20, 20]) == pytest.approx(100 / 255)
    noise = np.random.default_rng(0).integers(256, size=(20, 40), dtype=np.uint8)
    own = squared(read_images([noise, grey]))[1]  # the border of noise is no colour
    assert float(own[0, 0, 0]) == pytest.approx(100 / 255)
