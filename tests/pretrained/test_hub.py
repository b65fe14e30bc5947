"""Laws of the hub: a model is asked for by name, and a pickle never is."""

import http.server
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fine import FINE, FINEConfig


class Hub(http.server.BaseHTTPRequestHandler):
    """A hub on this machine that has one model, someone/mine, in the files of a folder."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        file = self.server.folder / Path(self.path).name
        found = self.path.startswith("/someone/mine/resolve/main/") and file.exists()
        self.send_response(200 if found else 404)
        content = file.read_bytes() if found else b""
        if found:
            self.send_header("ETag", f'"{hash(content)}"')
            self.send_header("X-Repo-Commit", "0" * 40)
        else:
            missing = "EntryNotFound" if "/someone/mine/" in self.path else "RepoNotFound"
            self.send_header("X-Error-Code", missing)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path):
    """A hub with a folder of its own behind it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.folder, server.asked = tmp_path / "hub", []
    FINE(FINEConfig(slots=4), channels=1, size=32).save_pretrained(server.folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ask(hub, tmp_path, warm_python) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """FINE.from_pretrained(name) in another process: the hub's address is read when it starts."""

    def call(name: str) -> subprocess.CompletedProcess[str]:
        code = (
            f"import fine; model = fine.FINE.from_pretrained({name!r}); "
            "print(model.config.slots, model.size)"
        )
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("HF_") and "proxy" not in key.lower()
        }
        environment |= {
            "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
        }
        return warm_python.run("-c", code, environment=environment, timeout=120)

    return call


@pytest.mark.slow
def test_a_name_is_asked_of_the_hub(hub, ask):
    done = ask("someone/mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["4", "32"]
    assert {Path(path).name for path in hub.asked} == {"config.json", "model.safetensors"}


@pytest.mark.slow
def test_a_pickle_on_the_hub_is_never_asked_for(hub, ask):
    (hub.folder / "model.safetensors").rename(hub.folder / "pytorch_model.bin")
    done = ask("someone/mine")
    assert done.returncode and "FineError: the model 'someone/mine' cannot be" in done.stderr
    assert not any("bin" in path for path in hub.asked)


@pytest.mark.slow
def test_a_name_the_hub_does_not_have_is_refused_in_one_line(ask):
    done = ask("someone/nothing")
    assert done.returncode and "FineError: the model 'someone/nothing' cannot be" in done.stderr
