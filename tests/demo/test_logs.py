"""The log: few lines, whatever visitors do, and nothing in it that could move the cursor."""

import logging

import pytest

from fine.demo import logs
from fine.demo.logs import LONGEST, MOST, sparing_log

UVICORN = logging.getLogger("uvicorn.error")
OWN = logging.getLogger("fine.demo")


def test_a_flood_of_messages_is_a_few_lines(capsys):
    with sparing_log():
        for number in range(10_000):
            UVICORN.warning("Invalid HTTP request received. %s", "x" * number)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MOST + 1 and "next messages follow in 60 s" in lines[-1]


def test_after_a_minute_messages_are_written_again(capsys, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(logs.time, "monotonic", lambda: now)
    with sparing_log():
        for now in (1000.0, 1030.0, 1061.0):  # noqa: B007 - the clock
            for _ in range(100):
                OWN.warning("again")
    assert capsys.readouterr().err.count("again") == 2 * MOST


def test_a_message_is_short_and_has_no_control_characters(capsys):
    with sparing_log():
        try:
            raise ValueError("\x1b[2J" + "x" * 100_000 + "the end")
        except ValueError:
            OWN.exception("POST \x1b]0;title\x07")
    text = capsys.readouterr().err
    assert text.endswith("the end\n") and len(text) <= LONGEST + 1
    assert all(line.isprintable() for line in text.splitlines())


def test_a_traceback_keeps_its_lines(capsys):
    with sparing_log():
        try:
            raise ZeroDivisionError("by zero")
        except ZeroDivisionError:
            OWN.exception("POST %s", "\x1b[2J")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "ERROR: POST �[2J" and lines[-1] == "ZeroDivisionError: by zero"


def test_nothing_is_written_once_the_server_is_ended(capsys):
    with sparing_log() as log:
        log.stop()
        logging.getLogger("asyncio").error("Task was destroyed but it is pending!")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", logs.LOGGERS)
def test_loggers_are_left_as_they_were(name):
    logger = logging.getLogger(name)
    before = list(logger.handlers), logger.propagate
    with sparing_log():
        assert not logger.propagate
    assert (logger.handlers, logger.propagate) == before
