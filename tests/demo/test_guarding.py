"""What protects the server and the page: a limit on requests, headers, no other addresses."""

import pytest

from fine.demo.app import PAGE
from fine.demo.guarding import LARGEST_BODY
from support.demo import assert_refused


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
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


FILES = sorted(file.name for file in PAGE.iterdir())


def test_the_page_has_files():
    assert {"index.html", "style.css", "page.js"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_page_names_no_other_address(client, name):
    text = client.get(f"/page/{name}").text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text and "https://" not in text and "url(" not in text
