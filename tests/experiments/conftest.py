"""What tests of experiments share."""

from pathlib import Path

import pytest

from fine.experiments import Ledger


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger")


@pytest.fixture
def workplace(tmp_path, noisy_images, monkeypatch) -> Path:
    """An empty current folder except for a folder of images."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
