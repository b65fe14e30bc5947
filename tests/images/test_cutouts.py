"""Photographs cut out along smooth outlines."""

from pathlib import Path

import numpy as np
import pytest
import torch

from fine.images import load_images
from fine.images.cutouts import _cut_out


def test_a_cut_out_shows_the_middle_of_its_photograph_and_no_corner():
    white = torch.full((50, 3, 32, 32), 255, dtype=torch.uint8)
    cut = _cut_out(white, np.arange(50))
    shown = cut > 0
    assert 0.15 < shown.float().mean() < 0.7
    assert shown[:, :, 14:18, 14:18].float().mean() > 0.95
    assert not shown[:, :, ::31, ::31].any()


def test_an_outline_depends_on_the_number_of_the_photograph_alone():
    white = torch.full((4, 3, 32, 32), 255, dtype=torch.uint8)
    cut = _cut_out(white, np.arange(4))
    assert torch.equal(cut[2:3], _cut_out(white[2:3], np.array([2])))
    assert not torch.equal(cut[0], cut[1])


@pytest.mark.slow
def test_cut_outs_have_the_classes_of_cifar100(data_root: Path) -> None:
    photographs = load_images("cifar100", data_root=data_root)
    cutouts = load_images("cutouts", data_root=data_root)
    assert torch.equal(cutouts.labels, photographs.labels)
    assert cutouts.class_names == photographs.class_names
    assert (cutouts.pixels <= photographs.pixels).all()
