"""The images of the page: of classes that no model was trained on."""

import pytest
import torch

from fine.demo.sources import images_of
from fine.errors import FineError
from fine.images import load_images


def test_glyphs_of_the_page_are_of_classes_never_trained_on():
    trained = load_images("glyphs").pixels.flatten(1)
    images = images_of("glyphs", channels=1, size=32)
    shown = images.pixels.flatten(1)
    assert not (shown[:, None] == trained[None, ::7]).all(-1).any()
    assert min(int(name.split()[1]) for name in images.class_names) >= 400


@pytest.mark.slow
@pytest.mark.parametrize("source", ["mnist", "cifar100"])
def test_images_of_files_are_of_test_classes(source, data_root, monkeypatch):
    monkeypatch.setenv("FINE_DATA", str(data_root))
    images = images_of(source, channels=1, size=32)
    assert images.pixels.shape == (200, 1, 32, 32)
    assert torch.equal(images.labels.unique(), torch.arange(len(images.class_names)))


def test_images_whose_files_are_missing_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FINE_DATA", str(tmp_path))
    with pytest.raises(FineError, match="fine data download omniglot"):
        images_of("omniglot", channels=1, size=28)
