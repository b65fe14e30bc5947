"""Image sources: what each one holds, how pictures are resampled, and what is said about files that are wrong."""

import gzip
import io
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
import torch
from PIL import Image

import fine.images
from fine.errors import FineError
from fine.images import Images, cifar100, decoded, folder, load_images, mnist, omniglot
from fine.images.official import find_data_root
from fine.images.resampling import shrink


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's cache folder."""
    cache = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(cache / name))


def one_line(error: pytest.ExceptionInfo[FineError], *parts: str) -> None:
    """The message is one line and has all the parts in it."""
    message = str(error.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


# Images


def colour(*rgb: int) -> Images:
    pixels = torch.tensor(rgb, dtype=torch.uint8).reshape(1, 3, 1, 1).expand(1, 3, 4, 4)
    return Images("test", pixels, torch.zeros(1, dtype=torch.int64), ("only",))


@pytest.mark.parametrize(
    ("rgb", "grey"),
    # ITU-R 601: 0.299 × 255 = 76.245, 0.587 × 255 = 149.685, 0.114 × 255 = 29.07
    [((255, 0, 0), 76), ((0, 255, 0), 150), ((0, 0, 255), 29), ((255, 255, 255), 255), ((0, 0, 0), 0), ((9, 9, 9), 9)],
)
def test_grey_is_itu_601_luminance(rgb: tuple[int, int, int], grey: int) -> None:
    pixels = colour(*rgb).with_channels(1).pixels
    assert pixels.shape == (1, 1, 4, 4)
    assert pixels.dtype == torch.uint8
    assert (pixels == grey).all()


def test_grey_to_colour_and_back_changes_nothing() -> None:
    every_grey = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16)
    images = Images("test", every_grey, torch.zeros(1, dtype=torch.int64), ("only",))
    there = images.with_channels(3)
    assert there.pixels.shape == (1, 3, 16, 16)
    assert torch.equal(there.with_channels(1).pixels, every_grey)
    assert images.with_channels(1) is images


def test_other_channels_are_refused() -> None:
    with pytest.raises(FineError, match="cannot have 2 channels"):
        colour(1, 2, 3).with_channels(2)


# Resampling


@pytest.mark.parametrize(("before", "after"), [(105, 32), (105, 28), (32, 28), (64, 32)])
def test_shrinking_agrees_with_averaging_an_enlarged_picture(before: int, after: int) -> None:
    """Enlarged ``after`` times, every new pixel is a block of ``before`` × ``before``: a slow, exact reference."""
    picture = np.random.default_rng(0).integers(0, 256, (before, before)).astype(np.int64)
    blocks = picture.repeat(after, 0).repeat(after, 1).reshape(after, before, after, before)
    exact = np.rint(blocks.sum(axis=(1, 3)) / before**2)
    shrunk = shrink(torch.from_numpy(picture.astype(np.uint8))[None, None], after)
    assert shrunk.is_contiguous()
    assert np.array_equal(shrunk[0, 0].numpy(), exact)


def test_shrinking_keeps_a_flat_picture_flat() -> None:
    assert (shrink(torch.full((2, 3, 105, 105), 201, dtype=torch.uint8), 32) == 201).all()


# Names, sizes, data root


def test_an_unknown_source_gets_a_suggestion() -> None:
    with pytest.raises(FineError) as error:
        load_images("omniglott")
    one_line(error, "omniglott", "did you mean 'omniglot'?", "cifar100", "mnist", "glyphs", "folder:PATH")


@pytest.mark.parametrize("name", ["", "mnist:x", "../mnist", "official", "folder", "folder:"])
def test_a_bad_name_is_one_line(name: str) -> None:
    with pytest.raises(FineError) as error:
        load_images(name)
    one_line(error, "folder:PATH")


def test_only_two_sizes_are_offered() -> None:
    with pytest.raises(FineError) as error:
        load_images("glyphs", size=64)
    one_line(error, "64", "32, 28")


def test_the_argument_comes_before_the_environment_before_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_missing_file_names_itself_the_root_and_the_remedy(name: str, file: str, tmp_path: Path) -> None:
    with pytest.raises(FineError) as error:
        load_images(name, data_root=tmp_path)
    one_line(error, file, f"data root {tmp_path}:", f"`fine data download {name}`", "FINE_DATA", "--data-root")


@pytest.mark.parametrize("name", ["omniglot", "cifar100", "mnist"])
def test_a_data_root_that_is_a_file_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FineError) as error:
        load_images(name, data_root=tmp_path / "file")
    one_line(error, str(tmp_path / "file"))


# The real pictures


def test_omniglot_is_1623_characters_by_20_drawers(data_root: Path) -> None:
    images = load_images("omniglot", data_root=data_root)
    assert images.pixels.shape == (32_460, 1, 32, 32)
    assert images.pixels.dtype == torch.uint8
    assert len(images.class_names) == 1_623 == len(set(images.class_names))
    assert list(images.class_names) == sorted(images.class_names)
    assert len({name.split("/")[0] for name in images.class_names}) == 50
    assert all(re.fullmatch(r"[^/]+/character\d\d", name) for name in images.class_names)
    assert torch.equal(images.labels.bincount(), torch.full((1_623,), 20))


def test_omniglot_ink_is_bright_and_every_drawing_is_where_its_name_says(data_root: Path) -> None:
    images = load_images("omniglot", data_root=data_root)
    assert images.pixels[:, :, 0, 0].float().mean() < 5 < images.pixels.float().mean() < 60  # a corner is paper
    with zipfile.ZipFile(data_root / "omniglot/images_evaluation.zip") as archive:
        for entry in sorted(archive.namelist())[::1_317]:  # images_evaluation/Alphabet/character07/1234_03.png
            _, alphabet, character, drawing = entry.split("/")
            official = 1 - np.asarray(Image.open(archive.open(entry))).astype(np.float64)  # the file has ink as 0
            place = 20 * images.class_names.index(f"{alphabet}/{character}") + int(drawing[5:7]) - 1
            mine = images.pixels[place].double() / 255
            assert mine.mean().item() == pytest.approx(official.mean(), abs=0.5 / 255)  # area averaging keeps the mean


def test_cifar100_is_60000_colour_pictures_600_a_class(data_root: Path) -> None:
    images = load_images("cifar100", data_root=data_root)
    assert images.pixels.shape == (60_000, 3, 32, 32)
    assert images.pixels.is_contiguous()
    assert torch.equal(images.labels.bincount(), torch.full((100,), 600))
    assert images.class_names[0] == "apple"
    assert images.class_names[99] == "worm"
    # The published channel means of the 50,000 training pictures: 0.5071, 0.4865, 0.4409.
    mean = images.pixels[:50_000].double().mean(dim=(0, 2, 3)) / 255
    assert mean.tolist() == pytest.approx([0.5071, 0.4865, 0.4409], abs=1e-4)


def test_mnist_is_the_10000_test_digits(data_root: Path) -> None:
    images = load_images("mnist", data_root=data_root)
    assert images.pixels.shape == (10_000, 1, 32, 32)
    assert images.labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]  # the well-known first digits of the test set
    assert images.labels.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_mnist_is_padded_not_resampled(data_root: Path) -> None:
    small, large = (load_images("mnist", size=size, data_root=data_root).pixels for size in (28, 32))
    assert torch.equal(large[:, :, 2:-2, 2:-2], small)
    assert large.sum() == small.sum()


@pytest.mark.parametrize(("name", "shape"), [("cifar100", (60_000, 3, 28, 28)), ("mnist", (10_000, 1, 28, 28))])
def test_sources_come_in_28(name: str, shape: tuple[int, ...], data_root: Path) -> None:
    assert load_images(name, size=28, data_root=data_root).pixels.shape == shape


def test_loading_twice_is_loading_once(data_root: Path) -> None:
    assert load_images("mnist", data_root=data_root) is load_images("mnist", data_root=data_root)


# Damaged official files


def idx(*shape: int, magic: bytes = b"\0\0\x08", value: int = 0) -> bytes:
    header = magic + bytes([len(shape)]) + struct.pack(f">{len(shape)}i", *shape)
    return header + bytes([value]) * int(np.prod(shape))


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    {
        "empty": b"",
        "not gzip": b"plain text",
        "truncated gzip": gzip.compress(idx(10_000, 28, 28))[:-900],
        "truncated content": gzip.compress(idx(10_000, 28, 28)[:-1]),
        "too long": gzip.compress(idx(10_000, 28, 28) + b"\0"),
        "wrong magic": gzip.compress(idx(10_000, 28, 28, magic=b"\0\0\x0d")),
        "wrong shape": gzip.compress(idx(60_000, 28, 28)),
        "wrong gzip checksum": gzip.compress(idx(10_000, 28, 28))[:-8] + struct.pack("<II", 1, 7_840_016),
    }.items(),
    ids=lambda item: item[0],
)
def test_damaged_mnist_is_one_line(content: tuple[str, bytes], tmp_path: Path) -> None:
    path = write(tmp_path / "mnist/t10k-images-idx3-ubyte.gz", content[1])
    with pytest.raises(FineError) as error:
        load_images("mnist", data_root=tmp_path)
    one_line(error, str(path), "expected", "delete it and run `fine data download mnist`")


def test_a_label_that_is_no_digit_is_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "mnist/t10k-labels-idx1-ubyte.gz", gzip.compress(idx(10_000, value=10)))
    with pytest.raises(FineError) as error:
        mnist.check(path)
    one_line(error, "labels 0 to 9", "10")


def test_damaged_cifar100_is_one_line(tmp_path: Path) -> None:
    names = write(tmp_path / "cifar-100-binary/fine_label_names.txt", "\n".join(f"class{i}" for i in range(99)).encode())
    with pytest.raises(FineError) as error:
        load_images("cifar100", data_root=tmp_path)
    one_line(error, str(names), "100 different class names", "99", "`fine data download cifar100`")
    write(names, "\n".join(f"class{i}" for i in range(100)).encode())
    train = write(tmp_path / "cifar-100-binary/train.bin", b"\0" * 3_074)
    with pytest.raises(FineError) as error:
        load_images("cifar100", data_root=tmp_path)
    one_line(error, str(train), "153,700,000 bytes (50,000 records of 3,074)", "found 3,074 bytes")
    test = write(tmp_path / "cifar-100-binary/test.bin", b"\xff" * 30_740_000)
    with pytest.raises(FineError) as error:
        cifar100._read(test)
    one_line(error, str(test), "fine labels 0 to 99", "255")


def test_cifar100_names_that_are_not_text_are_damage(tmp_path: Path) -> None:
    names = write(tmp_path / "cifar-100-binary/fine_label_names.txt", b"\xff\xfe\0")
    with pytest.raises(FineError) as error:
        cifar100.check(names)
    one_line(error, str(names), "100 class names")


def zipped(entries: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return content.getvalue()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", zipped({"images_evaluation/A/character01/1_01.png": b""})])
def test_a_damaged_omniglot_zip_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "omniglot/images_background.zip", content)
    with pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(path), "19,280 PNGs (964 characters × 20 drawings)", "`fine data download omniglot`")


def png(side: int = 105) -> bytes:
    content = io.BytesIO()
    noise = np.random.default_rng(0).random((side, side)) < 0.5  # so that no part of the file is redundant
    Image.fromarray(noise).save(content, "PNG")
    return content.getvalue()


@pytest.mark.parametrize(
    "drawing",
    [b"", b"not a picture", png()[:300], png(side=32), png().replace(b"IDAT", b"IDOT"), bytes(200_000)],
    ids=["empty", "text", "truncated", "other size", "broken chunk", "huge"],
)
def test_a_damaged_drawing_is_one_line(drawing: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(omniglot._CHARACTERS, "images_background.zip", 1)  # one character is enough for this
    entries = {f"images_background/A/character01/0001_{i:02}.png": png() for i in range(1, 21)}
    entries["images_background/A/character01/0001_13.png"] = drawing
    path = write(tmp_path / "omniglot/images_background.zip", zipped(entries))
    with pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(path), "`fine data download omniglot`")


def test_a_flipped_byte_in_a_real_zip_is_noticed(data_root: Path, tmp_path: Path) -> None:
    content = bytearray((data_root / "omniglot/images_background.zip").read_bytes())
    content[200] ^= 0xFF  # inside the first drawing
    path = write(tmp_path / "omniglot/images_background.zip", bytes(content))
    with pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(path), "delete it")


# Decoded pictures are kept


def test_decoding_is_done_once_per_content_and_again_when_the_cache_is_broken(tmp_path: Path) -> None:
    file, calls = write(tmp_path / "omniglot/pictures.zip", b"one"), []

    def load(*, size: int, data_root: Path) -> Images:
        calls.append((size, data_root))
        content = torch.tensor(list(file.read_bytes()), dtype=torch.uint8)
        return Images("once", content[:, None, None, None], torch.arange(len(content)), ("å", "b"))

    def once(size: int) -> Images:
        return decoded.decoded_once("once", size, [file], load)

    first, second = once(32), once(32)
    assert calls == [(32, tmp_path)]
    assert torch.equal(first.pixels, second.pixels)
    assert torch.equal(first.labels, second.labels)
    assert (first.name, first.class_names) == (second.name, second.class_names)
    once(28)
    assert len(calls) == 2  # another size
    file.write_bytes(b"two")
    assert once(32).pixels.flatten().tolist() == list(b"two")
    assert len(calls) == 3  # another content
    cache = Path(platformdirs.user_cache_dir("fine")) / "decoded/once-32.safetensors"
    cache.write_bytes(cache.read_bytes()[:50])
    assert once(32).pixels.flatten().tolist() == list(b"two")
    assert len(calls) == 4  # a broken cache
    once(32)
    assert len(calls) == 4  # mended


def test_a_cache_that_cannot_be_written_costs_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = write(tmp_path / "blocked", b"")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(blocked / name))
    images = colour(1, 2, 3)
    file = write(tmp_path / "omniglot/pictures.zip", b"")
    assert decoded.decoded_once("x", 32, [file], lambda **_: images) is images


# A folder of pictures


def save(path: Path, picture: Image.Image, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, **options)
    return path


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two classes, two grey pictures each."""
    for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
        save(tmp_path / "pictures" / name, Image.new("L", (40, 40), 10))
    return tmp_path / "pictures"


def test_a_folder_is_one_class_per_subfolder_in_sorted_order(pictures: Path) -> None:
    save(pictures / "b/0.png", Image.new("L", (40, 40), 77))
    for litter in (".DS_Store", "a/.hidden", "a/Thumbs.db", "b/desktop.ini", "notes.txt"):
        (pictures / litter).write_text("litter")
    (pictures / ".git").mkdir()
    images = load_images(f"folder:{pictures}")
    assert images.class_names == ("a", "b")
    assert images.labels.tolist() == [0, 0, 1, 1, 1]
    assert images.labels.dtype == torch.int64
    assert images.pixels.shape == (5, 1, 32, 32)
    assert images.pixels[:, 0, 5, 5].tolist() == [10, 10, 77, 10, 10]
    assert load_images(f"folder:{pictures}", size=28).pixels.shape == (5, 1, 28, 28)


def test_one_coloured_picture_makes_the_source_coloured(pictures: Path) -> None:
    save(pictures / "a/2.png", Image.new("RGB", (40, 40), (10, 10, 11)))
    images = load_images(f"folder:{pictures}")
    assert images.pixels.shape == (4, 3, 32, 32)
    assert images.pixels[1, :, 0, 0].tolist() == [10, 10, 11]


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm"])
def test_common_formats_are_read(suffix: str, pictures: Path) -> None:
    save(pictures / f"a/0.{suffix}", Image.new("RGB", (64, 64), (200, 200, 200)))
    assert load_images(f"folder:{pictures}").pixels[0].float().mean().item() == pytest.approx(200, abs=2)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "I;16"])
def test_white_is_white_in_every_mode(mode: str, pictures: Path) -> None:
    white = Image.new("L", (40, 40), 255)
    if mode == "I;16":
        white = Image.fromarray(np.full((40, 40), 65_535, dtype=np.uint16))
    save(pictures / "a/0.tiff", white if mode == "I;16" else white.convert(mode))
    assert (load_images(f"folder:{pictures}").pixels[0] == 255).all()


def test_transparent_parts_are_paper(pictures: Path) -> None:
    save(pictures / "a/0.png", Image.new("RGBA", (40, 40), (0, 0, 0, 0)))
    save(pictures / "a/00.png", Image.new("LA", (40, 40), (0, 255)))
    save(pictures / "a/000.gif", Image.new("RGBA", (40, 40), (0, 0, 0, 0)))
    pixels = load_images(f"folder:{pictures}").pixels
    assert pixels[:3].amin((1, 2, 3)).tolist() == [255, 0, 255]
    assert pixels[:3].amax((1, 2, 3)).tolist() == [255, 0, 255]


def test_the_middle_square_is_kept(pictures: Path) -> None:
    wide = Image.new("L", (120, 40), 0)
    wide.paste(255, (40, 0, 80, 40))
    save(pictures / "a/0.png", wide)
    save(pictures / "a/00.png", wide.transpose(Image.Transpose.ROTATE_90))
    assert (load_images(f"folder:{pictures}").pixels[:2] == 255).all()


def test_exif_rotation_is_honoured(pictures: Path) -> None:
    upright = Image.new("L", (64, 64), 0)
    upright.paste(255, (0, 0, 64, 32))  # bright above
    exif = Image.Exif()
    exif[0x0112] = 6  # "turn me a quarter clockwise to see me upright"
    save(pictures / "a/0.png", upright.transpose(Image.Transpose.ROTATE_90), exif=exif)
    pixels = load_images(f"folder:{pictures}").pixels[0, 0]
    assert (pixels[:14] > 200).all()
    assert (pixels[18:] < 50).all()


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is large, with no pixels in it."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + b"\0\0\0\0IDAT"


@pytest.mark.parametrize(
    ("content", "said"),
    {
        "empty": (b"", "0 bytes"),
        "text": (b"hello", "not a picture"),
        "truncated": (png()[:300], "not a picture"),
        "eps": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
        "large": (bomb(10_000, 5_001), "50 megapixels"),
        "larger": (bomb(10_000, 10_000), "50 megapixels"),
        "bomb": (bomb(100_000, 100_000), "50 megapixels"),
    }.values(),
    ids=["empty", "text", "truncated", "eps", "large", "larger", "bomb"],
)
def test_a_bad_picture_is_named_in_one_line(content: bytes, said: str, pictures: Path) -> None:
    bad = write(pictures / "b/bad.png", content)
    with pytest.raises(FineError) as error:
        load_images(f"folder:{pictures}")
    one_line(error, str(bad), said, "replace it")


def test_a_folder_without_classes_or_pictures_is_one_line(tmp_path: Path, pictures: Path) -> None:
    (pictures / "c").mkdir()
    for path, said in {
        str(tmp_path / "nowhere"): "is missing",
        "~nobody-of-this-name": "is missing",
        "a\0b": "cannot be read",
        str(pictures / "a/1.png"): "is a file",
        str(pictures / "a"): "at least 2 classes",
        str(pictures): f"{pictures / 'c'} has no pictures",
    }.items():
        with pytest.raises(FineError) as error:
            load_images(f"folder:{path}")
        one_line(error, path.replace("\0", "\N{REPLACEMENT CHARACTER}"), said)  # no control characters in errors


def test_a_folder_is_read_again_after_a_change(pictures: Path) -> None:
    assert len(load_images(f"folder:{pictures}").labels) == 4
    save(pictures / "a/3.png", Image.new("L", (40, 40)))
    assert len(load_images(f"folder:{pictures}").labels) == 5


def test_all_exported_names_exist() -> None:
    assert fine.images.SOURCES == ("omniglot", "cifar100", "mnist", "glyphs", "folder:PATH")
    assert folder.PIXEL_LIMIT == 50_000_000
