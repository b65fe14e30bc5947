"""What protects the server and the page: limits on requests, headers, no other addresses."""

import asyncio

import pytest
from starlette.testclient import TestClient

from fine.demo import guarding
from fine.demo.admission import Admission
from fine.demo.app import PAGE, make_app
from fine.demo.guarding import LARGEST_BODY, SMALL_BODY, Guard
from support.demo import MODEL, assert_guarded, assert_refused, play_request


def test_a_large_body_is_refused_before_it_is_parsed(client):
    response = client.post("/api/solve", content=b" " * (LARGEST_BODY + 1))
    assert_refused(response, "bytes", status=413)


def test_a_body_without_end_is_refused(client):
    def endless():
        for _ in range(1000):
            yield b"[" * 10_000

    assert_refused(client.post("/api/solve", content=endless()), "bytes", status=413)


@pytest.mark.parametrize("path", ["/", "/page/style.css", "/api/about", "/nowhere"])
def test_every_response_carries_the_security_headers(client, path):
    headers = client.get(path).headers
    assert_guarded(headers)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_request_that_fails_gets_one_line_with_the_headers(client, puzzle, monkeypatch, caplog):
    """Its traceback is in the log, for whoever looks after the program."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("\x1b[2J")

    monkeypatch.setattr("fine.demo.play._read", fail)
    assert_refused(client.post("/api/solve", json=puzzle), "failed", status=500)
    (record,) = caplog.records
    assert record.name == "fine.demo" and "POST ZeroDivisionError" in record.message


@pytest.mark.slow
def test_a_model_that_computes_nan_says_so(glyphs, puzzle, monkeypatch):
    monkeypatch.setattr("fine.demo.solver._ON_SHARED_MAP", 2)
    app = make_app([MODEL])
    client = TestClient(app)
    (solver,) = app.state.models
    solver.model.encoder.register_forward_hook(lambda module, given, result: result * float("nan"))
    for path, body in (("/api/solve", puzzle), ("/api/play", play_request(glyphs))):
        assert_refused(client.post(path, json=body), "NaN", status=500)
    assert_refused(client.get("/api/map", params={"model": MODEL}), "NaN", status=500)
    app.state.models.close()


def test_too_many_requests_get_one_line_that_says_when_to_try_again(puzzle):
    app = make_app([MODEL], admission=Admission(most=0))
    response = TestClient(app).post("/api/solve", json=puzzle)
    assert_refused(response, "try again in a second", status=503)
    assert response.headers["Retry-After"] == "1"
    assert TestClient(app).get("/").status_code == 200  # the page itself needs no model
    app.state.models.close()


def run(guard: Guard, *parts: bytes) -> list[dict[str, object]]:
    """What a guard sends for a request that comes in parts; the last part is the end of it."""
    sent: list[dict[str, object]] = []
    received = iter(parts)
    left = len(parts)

    async def receive():
        nonlocal left
        left -= 1
        return {"type": "http.request", "body": next(received), "more_body": left > 0}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/solve",
        "headers": [(b"host", b"localhost")],
        "server": ("127.0.0.1", 80),
    }
    asyncio.run(guard(scope, receive, send))
    return sent


async def content_length(scope, receive, send) -> None:
    """An application that answers how long the body was."""
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(message["body"])).encode()})


def test_a_body_that_comes_byte_by_byte_is_put_together():
    guard = Guard(content_length, names=(), admission=Admission())
    assert run(guard, *[b"x"] * 5000)[1]["body"] == b"5000"


def test_large_requests_share_the_memory_that_there_is_for_them():
    """As if other visitors had sent all that is allowed; small requests are not affected."""
    guard = Guard(content_length, names=(), admission=Admission())
    guard.held = guarding.MOST_HELD - 1000
    assert run(guard, b"x" * SMALL_BODY, b"x" * 1000)[0]["status"] == 503
    assert run(guard, b"x" * SMALL_BODY)[0]["status"] == 200
    assert guard.held == guarding.MOST_HELD - 1000  # nothing is counted for ever
    guard.held = 0
    assert run(guard, b"x" * SMALL_BODY, b"x" * 1000)[0]["status"] == 200
    assert guard.held == 0


def test_a_request_that_is_cut_off_by_the_end_of_the_server_is_refused():
    async def wait_for_ever(scope, receive, send) -> None:
        await asyncio.sleep(3600)

    async def cut_off() -> list[dict[str, object]]:
        sent = []

        async def receive():
            return {"type": "http.request", "body": b""}

        async def send(message):
            sent.append(message)

        guard = Guard(wait_for_ever, names=(), admission=Admission())
        scope = {"type": "http", "method": "GET", "path": "/", "server": ("127.0.0.1", 80)}
        scope["headers"] = [(b"host", b"localhost")]
        task = asyncio.ensure_future(guard(scope, receive, send))
        await asyncio.sleep(0)
        task.cancel()
        await task
        return sent

    assert asyncio.run(cut_off())[0]["status"] == 503


FILES = sorted(file.name for file in PAGE.iterdir())


def test_the_page_has_files():
    assert {"index.html", "style.css", "page.js"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_page_names_no_other_address(client, name):
    text = client.get(f"/page/{name}").text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text and "https://" not in text and "url(" not in text


@pytest.mark.parametrize(
    ("name", "kind"),
    [("page.js", "text/javascript"), ("style.css", "text/css"), ("mark.svg", "image/svg+xml")],
)
def test_a_browser_is_told_what_a_file_is(client, name, kind):
    assert client.get(f"/page/{name}").headers["Content-Type"].startswith(kind)
