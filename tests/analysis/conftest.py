"""Puzzles of two families over glyphs, and their hints."""

from dataclasses import replace

import pytest
import torch

from fine import Task


@pytest.fixture(scope="package")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation+scale"), test_count=40)


@pytest.fixture(scope="package")
def pairs(task) -> tuple[torch.Tensor, torch.Tensor]:
    images = task.test_puzzles().render(range(8)).images
    return images[:, 0], images[:, 1]
