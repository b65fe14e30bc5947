"""Bad requests: a 4xx and one clear line, whatever is wrong."""

import base64
import io
import json
import zlib

import pytest
from PIL import Image

from fine.demo.wire import LARGEST_SIDE, LONGEST_TEXT, PREFIX
from support.demo import MODEL, assert_refused, play_request

JSON = {"Content-Type": "application/json"}


def png(width: int, height: int, rows: bytes) -> str:
    """A PNG that claims to be of this size, whatever is in it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content).to_bytes(4, "big")
        return len(content).to_bytes(4, "big") + kind + content + checksum

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, 0, 0, 0, 0))
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return PREFIX + base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode()


def jpeg() -> str:
    file = io.BytesIO()
    Image.new("L", (32, 32)).save(file, "JPEG")
    return base64.b64encode(file.getvalue()).decode()


BAD_IMAGES = {
    "bomb": (png(20_000, 20_000, bytes(20_001 * 100)), "20,000 × 20,000"),
    "wide": (png(LARGEST_SIDE + 1, 1, bytes(LARGEST_SIDE + 2)), f"at most {LARGEST_SIDE}"),
    "no size": (png(0, 0, b""), "0 × 0"),
    "cut off": (png(32, 32, bytes(33 * 32))[:-40], "base64|PNG|read"),
    "only a header": (png(32, 32, b"")[:44], "read|base64"),
    "JPEG": (jpeg(), "no PNG"),
    "text": ("hello", "base64|PNG"),
    "empty": ("", "PNG"),
    "not ASCII": ("é" * 10, "base64"),
    "other URL": ("https://example.org/x.png", "base64"),
    "long": ("A" * (LONGEST_TEXT + 1), f"{LONGEST_TEXT}"),
}


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_a_bad_image_is_refused(client, puzzle, name):
    text, reason = BAD_IMAGES[name]
    for changed in ({"x": text}, {"choices": [puzzle["x"], text]}):
        assert_refused(client.post("/api/solve", json=puzzle | changed), reason)


BAD_PUZZLES = {
    "no choices": ({"choices": []}, "choices"),
    "10,000 choices": ({"choices": ["x"] * 10_000}, "at most 8"),
    "number for an image": ({"x": 7}, "x: "),
    "nothing for an image": ({"y": None}, "y: "),
    "unknown field": ({"path": "/etc/passwd"}, "path"),
    "unknown model": ({"model": "../../etc"}, "all-glyphs"),
    "long model": ({"model": "m" * 300}, "model"),
}


@pytest.mark.parametrize("name", BAD_PUZZLES)
def test_a_bad_puzzle_is_refused(client, puzzle, name):
    changes, reason = BAD_PUZZLES[name]
    assert_refused(client.post("/api/solve", json=puzzle | changes), reason)


BAD_STEPS = {
    "unknown family": ([{"family": "twirl", "parameters": [1]}], "twirl"),
    "family for pretraining only": ([{"family": "patchwork", "parameters": [1]}], "patchwork"),
    "too few parameters": ([{"family": "shear", "parameters": [15]}], "2 parameters"),
    "too far": ([{"family": "translation", "parameters": [1e9, 0]}], "-9 to 9"),
    "between": ([{"family": "swap", "parameters": [0, 0, 0, 0.5]}], "grid"),
    "text": ([{"family": "rotation", "parameters": ["90"]}], "number"),
    "too many": ([{"family": "rotation", "parameters": [90]}] * 5, "at most 4"),
    "none": ([], "steps"),
}


@pytest.mark.parametrize("name", BAD_STEPS)
def test_bad_rules_are_refused(client, glyphs, name):
    steps, reason = BAD_STEPS[name]
    assert_refused(client.post("/api/play", json=play_request(glyphs, steps=steps)), reason)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_parameter_must_be_a_finite_number(client, glyphs, number):
    body = json.dumps(play_request(glyphs)).replace("[90]", f"[{number}]")
    assert number in body
    assert_refused(client.post("/api/play", content=body, headers=JSON), "number")


BAD_PLAYS = {
    "steps and y": ({"y": PREFIX}, "exactly one"),
    "empty y": ({"steps": [], "y": ""}, "PNG"),
    "unknown source": ({"source": "etc"}, "etc"),
    "unknown source, y by hand": ({"source": "etc", "steps": [], "y": png(1, 1, bytes(2))}, "etc"),
    "unknown map": ({"map": "twirl"}, "twirl"),
    "negative seed": ({"seed": -1}, "seed"),
}


@pytest.mark.parametrize("name", BAD_PLAYS)
def test_a_bad_play_is_refused(client, glyphs, name):
    changes, reason = BAD_PLAYS[name]
    assert_refused(client.post("/api/play", json=play_request(glyphs, **changes)), reason)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 50_000])
def test_a_body_that_is_no_puzzle_is_refused(client, body):
    response = client.post("/api/solve", content=body, headers=JSON)
    assert 400 <= response.status_code < 500 and "\n" not in response.json()["error"]


def test_names_and_numbers_in_paths_are_checked(client):
    model = {"model": MODEL}
    assert_refused(client.get("/api/images/etc", params=model), "etc")
    assert_refused(client.get("/api/map", params=model | {"family": "twirl"}), "twirl")
    for number in ("-1", "1000", "1e3", "x"):
        response = client.get(f"/api/puzzles/glyphs/{number}", params=model)
        assert_refused(response, "number|puzzle")


def test_paths_that_lead_nowhere_are_refused(client):
    assert_refused(client.get("/nowhere"), "Not Found", status=404)
    assert_refused(client.get("/api/solve"), "Method", status=405)
    clears_a_terminal = "/%1b[2J"
    assert_refused(client.get(clears_a_terminal), "GET /�[2J: Not Found", status=404)
    assert client.get("/page/../app.py").status_code == 404
    assert client.get("/page/%2e%2e/app.py").status_code == 404
