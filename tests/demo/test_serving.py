"""Serving: ports, addresses, and what the command says when it cannot start."""

import asyncio
import socket

import pytest

from fine.demo.serving import PORT, address_of, listen
from fine.errors import FineError
from support.demo import MODEL


def test_a_taken_port_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(FineError, match=f"port {port} on 127.0.0.1 is taken"):
            listen("127.0.0.1", port)


def test_without_a_port_the_next_free_one_is_taken():
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        ports = [int(address_of(one).rpartition(":")[2]) for one in (first, second)]
        assert PORT <= ports[0] < ports[1] < PORT + 100
        assert address_of(first).startswith("http://127.0.0.1:")


def test_answers_are_sent_at_once():
    """Without TCP_NODELAY a small answer waits up to 40 ms for the previous acknowledgement."""

    async def nodelay_of_a_connection() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def met(_, writer):
            connection = writer.get_extra_info("socket")
            seen.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listen("127.0.0.1", 0) as listening:
            async with await asyncio.start_server(met, sock=listening):
                _, writer = await asyncio.open_connection(*listening.getsockname())
                writer.close()
                return await seen

    assert asyncio.run(nodelay_of_a_connection())


@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [("127.0.0.1", 70_000, "no port"), ("no.such.host.invalid", None, "no address")],
)
def test_an_impossible_address_is_one_clear_line(host, port, reason):
    with pytest.raises(FineError, match=reason):
        listen(host, port)


def test_the_command_says_what_is_missing(fine, monkeypatch):
    monkeypatch.setattr(
        "fine.cli.demo.find_spec", lambda name: None if name == "uvicorn" else object()
    )
    outcome = fine("demo", "--no-open")
    assert outcome.code == 2 and "needs uvicorn: `pip install uvicorn`" in outcome.err


@pytest.mark.parametrize("model", ["no-such-model", "all-strings"])
def test_the_command_refuses_a_model_it_cannot_show(fine, model):
    outcome = fine("demo", "--no-open", "--port", "0", "--model", model)
    assert outcome.code == 2 and model in outcome.err
    assert MODEL in outcome.err or "not images" in outcome.err


def test_the_command_refuses_a_port_that_there_is_none_of(fine):
    outcome = fine("demo", "--port", "99999")
    assert outcome.code == 2 and outcome.err.count("\n") == 1
    assert "there is no port 99999: give 1 to 65535" in outcome.err
