import pytest

from fine.puzzles.task import Task


@pytest.fixture(scope="session")
def task() -> Task:
    """A task whose puzzles are drawn at once."""
    return Task(images="glyphs", rules="rotation", train_classes=20, test_classes=20)
