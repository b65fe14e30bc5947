"""What tests share. Tests of real pictures need FINE_DATA; FINE_REQUIRE_DATA=1 turns their skipping into failing."""

import os
from pathlib import Path

import pytest

from fine.images.official import OFFICIAL


@pytest.fixture(scope="session")
def data_root() -> Path:
    """A data root with all official files in it."""
    root = Path(os.environ.get("FINE_DATA", "")).absolute()
    missing = [file for source in OFFICIAL.values() for file in source.files if not (root / file).is_file()]
    if os.environ.get("FINE_DATA") and not missing:
        return root
    reason = f"real pictures are needed: set FINE_DATA to a data root with {', '.join(missing) or 'the official files'}"
    if os.environ.get("FINE_REQUIRE_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
