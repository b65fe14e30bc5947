"""CIFAR-100: what it holds, and damaged files."""

from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.images import cifar100, load_images
from support.image_files import one_line, write
from support.odd_files import odd_files, without_waiting


@pytest.mark.slow
def test_cifar100_is_60000_colour_images_600_a_class(data_root: Path) -> None:
    images = load_images("cifar100", data_root=data_root)
    assert images.pixels.shape == (60_000, 3, 32, 32)
    assert images.pixels.is_contiguous()
    assert torch.equal(images.labels.bincount(), torch.full((100,), 600))
    assert images.class_names[0] == "apple"
    assert images.class_names[99] == "worm"
    # The published channel means of the 50,000 training images: 0.5071, 0.4865, 0.4409.
    mean = images.pixels[:50_000].double().mean(dim=(0, 2, 3)) / 255
    assert mean.tolist() == pytest.approx([0.5071, 0.4865, 0.4409], abs=1e-4)


def test_damaged_cifar100_is_one_line(tmp_path: Path) -> None:
    names = write(
        tmp_path / "cifar-100-binary/fine_label_names.txt",
        "\n".join(f"class{i}" for i in range(99)).encode(),
    )
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
    one_line(error, str(names), "100 different class names")


@odd_files
@pytest.mark.parametrize("name", ["fine_label_names.txt", "train.bin"])
def test_what_is_no_file_is_not_waited_for(make, name: str, tmp_path: Path) -> None:
    path = tmp_path / "cifar-100-binary" / name
    path.parent.mkdir()
    make(path)
    with without_waiting(), pytest.raises(FineError) as error:
        cifar100.check(path)
    one_line(error, str(path), "expected")
