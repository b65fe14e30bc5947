import platformdirs
import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's cache folder."""
    cache = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(cache / name))
