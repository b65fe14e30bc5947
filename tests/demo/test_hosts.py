"""The server answers to its own names alone, so that no other site can speak in its name."""

import socket

import pytest

from fine.demo.hosts import address_in, is_own_host, names_of
from support.demo import assert_refused


def scope(host: str | None, server: tuple[str, int] = ("127.0.0.1", 8000)) -> dict[str, object]:
    headers = [] if host is None else [(b"host", host.encode("latin-1"))]
    return {"type": "http", "headers": headers, "server": server}


OWN = ["localhost:8000", "localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "[::1]"]
FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example:8000",
    "localhost:8001",
    "127.0.0.1:80",
    "127.0.0.2:8000",
    "localhost:8000:8000",
    "localhost:+8000",
    "localhost:",
    "evil.example@localhost:8000",
    "localhost@evil.example",
    "::1",
    "[::1",
    "[::1].evil.example",
    "0.0.0.0:8000",
    "localhost\x00",
    "",
    "\x1b[2J",
    "a" * 10_000,
]


@pytest.mark.parametrize("host", OWN)
def test_own_names_are_answered(host):
    assert is_own_host(scope(host), ())


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_are_not(host):
    assert not is_own_host(scope(host), ())


def test_a_request_without_a_name_or_with_two_is_not():
    assert not is_own_host(scope(None), ())
    twice = scope("localhost")
    twice["headers"] *= 2
    assert not is_own_host(twice, ())


@pytest.mark.parametrize(
    ("host", "server", "asked"),
    [
        ("192.168.1.5", ("192.168.1.5", 8000), "192.168.1.5:8000"),
        ("0.0.0.0", ("192.168.1.5", 8000), "192.168.1.5:8000"),
        ("::", ("::ffff:192.168.1.5", 8000), "192.168.1.5:8000"),
        ("::", ("2001:db8::7", 8000), "[2001:DB8:0::7]:8000"),
        ("Box.lan", ("192.168.1.5", 8000), "box.lan:8000"),
        ("0.0.0.0", ("192.168.1.5", 8000), f"{socket.gethostname()}:8000"),
        ("0.0.0.0", ("192.168.1.5", 8000), f"{socket.gethostname()}.local:8000"),
    ],
)
def test_the_host_that_was_given_is_answered_to(host, server, asked):
    assert is_own_host(scope(asked, server), names_of(host))
    assert not is_own_host(scope("evil.example:8000", server), names_of(host))


@pytest.mark.parametrize("path", ["/", "/page/page.js", "/api/about", "/openapi.json", "/nowhere"])
def test_whatever_is_asked_under_another_name_is_refused(client, path):
    response = client.get(path, headers={"Host": "evil.example"})
    assert_refused(response, "evil.example", status=421)


def test_the_refusal_repeats_no_control_characters(client):
    response = client.get("/", headers={"Host": b"\x1b[2J\xff" + b"a" * 5000})
    assert_refused(response, "�[2J", status=421)


@pytest.mark.parametrize(
    ("server", "shown"),
    [
        (("127.0.0.1", 8000), "127.0.0.1:8000"),
        (("::ffff:192.168.1.5", 8000), "192.168.1.5:8000"),
        (("::1", 8000), "[::1]:8000"),
        (("127.0.0.1", 80), "127.0.0.1"),
    ],
)
def test_the_refusal_says_where_the_page_is(server, shown):
    assert address_in(scope("evil.example", server)) == shown
    assert is_own_host(scope(shown, server), ())
