"""Whatever is sent to the server, it answers, or refuses with a 4xx and a reason, within limits.

The limits are 5 seconds and a gigabyte. Requests are made from the server's own description,
/openapi.json: some follow it, some break it. Others are no HTTP at all, come under another name, or
are never finished.
"""

import base64
import contextlib
import http.client
import io
import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import requests
import schemathesis
from hypothesis import assume, event, example, given
from hypothesis import strategies as st
from PIL import Image
from schemathesis import Case, GenerationMode

from fine.demo import photos
from fine.demo.app import make_app
from fine.demo.wire import PREFIX
from fine.inference import Registered, RuleFunction
from fine.rules import FAMILIES, Rule
from fine.rules.rule_map import RuleMap
from support.demo import MODEL, RawAnswer, assert_guarded, connect, get, read_answer, served
from support.fuzzing import TEXTS, damaged, limits, spoilt
from support.photos import file_of, scene, url_of

pytestmark = pytest.mark.slow

APP = make_app([MODEL])
DESCRIPTION = schemathesis.openapi.from_dict(APP.openapi())
OPERATIONS = [operation.ok() for operation in DESCRIPTION.get_all_operations()]
SOURCES = ("glyphs", "omniglot")
CONNECTIONS = 64
"""Fewer than the slow visitors below hold."""


def png(mode: str, side: int) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((side, side)).convert(mode).save(file, "PNG")
    return file.getvalue()


def data_url(content: bytes) -> str:
    return PREFIX + base64.b64encode(content).decode()


PNGS = [png(mode, side) for mode, side in (("L", 32), ("RGBA", 40), ("P", 7), ("1", 512))]
WHOLE = st.sampled_from(PNGS)
IMAGES = st.one_of(*[WHOLE] * 7, WHOLE.flatmap(damaged)).map(data_url)
STEPS = st.sampled_from(list(FAMILIES.values())).flatmap(
    lambda family: st.fixed_dictionaries(
        {
            "family": st.just(family.name),
            "parameters": st.sampled_from(family.grid).map(list)
            | st.lists(st.floats(-9, 9), max_size=4),
        }
    )
)
KNOWN: dict[str, st.SearchStrategy] = {
    "model": st.just(MODEL),
    "source": st.sampled_from(SOURCES),
    "family": st.sampled_from(["all", *FAMILIES]),
    "map": st.sampled_from(["all", *FAMILIES]),
    "number": st.integers(-5, 1005),
    "choice": st.integers(-1, 4),
    "choices": st.lists(IMAGES, min_size=2, max_size=4),
    "steps": st.lists(STEPS, max_size=2),
    "x": IMAGES,
    "y": IMAGES,
    "new": IMAGES,
}
"""What the description does not tell: names that exist, and images, whole or damaged."""


@st.composite
def described_requests(draw: st.DrawFn) -> Case:
    """A request that follows the description, or breaks it.

    Most of its names exist: otherwise nothing would get far.
    """
    operation = draw(st.sampled_from(OPERATIONS))
    modes = [GenerationMode.POSITIVE]
    if operation.body or operation.query or operation.path_parameters:
        modes.append(GenerationMode.NEGATIVE)
    case = draw(operation.as_strategy(generation_mode=draw(st.sampled_from(modes))))
    for part in (case.path_parameters, case.query, case.body):
        for name in sorted(part.keys() & KNOWN.keys()) if isinstance(part, dict) else ():
            if draw(st.integers(0, 7)):
                part[name] = draw(KNOWN[name])
    return case


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server, on a thread of this process, so that its time and memory count."""
    with served(APP, connections=CONNECTIONS) as address:
        for source in SOURCES:  # large files take longer than the limit, once
            path = f"{address}/api/puzzles/{source}/0"
            requests.get(path, params={"model": MODEL}, timeout=600)
        yield address


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False  # no proxy
        yield session


def assert_an_answer_or_a_reason(status: int, content: bytes) -> None:
    """200, or a 4xx and one line that says why."""
    event(f"answered with {status}")
    assert status == 200 or 400 <= status < 500, content
    if status != 200:
        reason = json.loads(content)["error"]
        assert reason and reason.isprintable() and len(reason) < 2000


@given(described_requests())
def test_requests_that_follow_or_break_the_description(address, session, case):
    with limits():
        response = case.call(base_url=address, session=session, timeout=60)
    event(case.operation.label)
    assert_an_answer_or_a_reason(response.status_code, response.content)


IMAGE = data_url(PNGS[0])
PUZZLE = {"model": MODEL, "x": IMAGE, "y": IMAGE, "new": IMAGE, "choices": [IMAGE, IMAGE]}
STEP = {"family": "rotation", "parameters": [90]}
PLAY = {"model": MODEL, "source": "glyphs", "x": IMAGE, "new": IMAGE, "steps": [STEP]}


@st.composite
def spoilt_bodies(draw: st.DrawFn) -> tuple[str, bytes]:
    """A path, and a body that was a good one for it before it was damaged."""
    path, body = draw(st.sampled_from([("/api/solve", PUZZLE), ("/api/play", PLAY)]))
    content = draw(damaged(json.dumps(body).encode()) | spoilt(body))
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return path, content


@given(spoilt_bodies())
def test_spoilt_bodies(address, session, sent):
    path, content = sent
    headers = {"Content-Type": "application/json"}
    with limits():
        response = session.post(address + path, data=content, headers=headers, timeout=60)
    assert_an_answer_or_a_reason(response.status_code, response.content)


PHOTOGRAPHS = [
    file_of(scene(0, (40, 30)), "JPEG", quality=80, comment=b"hello", dpi=(300, 300)),
    file_of(scene(1, (40, 30)), "PNG", icc_profile=bytes(200), dpi=(300, 300)),
    file_of(scene(2, (40, 30)), "WEBP", lossless=True),
    file_of(scene(3, (40, 30)), "TIFF", resolution=1e30),
]


@pytest.fixture(scope="module")
def rule_at_once() -> Iterator[None]:
    """A rule that is there without a search, which would take most of the time."""
    found = Registered(RuleMap((Rule(FAMILIES["rotation"], (30.0,)),)), ((0.1,),), 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(photos, "function", lambda *_, **__: RuleFunction(found, canvas="expand"))
        yield


@given(st.lists(st.sampled_from(PHOTOGRAPHS).flatmap(damaged), min_size=1, max_size=4))
def test_photographs_of_visitors(address, session, rule_at_once, images):
    example = {"before": url_of(PHOTOGRAPHS[1]), "after": url_of(PHOTOGRAPHS[1])}
    body = {**example, "images": [base64.b64encode(image).decode() for image in images]}
    with limits():
        response = session.post(f"{address}/api/apply", json=body, timeout=60)
    assert response.status_code == 200, response.content
    for image, done in zip(images, response.json()["images"], strict=True):
        event(f"drawn: {bool(done['image'])}")
        assert bool(done["image"]) != bool(done["error"]) and done["error"].isprintable()
        assert done["image"] or image not in PHOTOGRAPHS


METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "X")
PLACES = ("/", "/page/", "/api/", "/api/images/", "/api/puzzles/glyphs/", "//")
ABOVE = ("/page/../", "/page/%2e%2e/")


@given(st.sampled_from(METHODS), st.sampled_from(PLACES + ABOVE), TEXTS, TEXTS)
def test_odd_paths(address, session, method, place, text, query):
    path, model = (quote(part.encode("utf-8", "surrogatepass")) for part in (text, query))
    request = session.prepare_request(requests.Request(method, address))
    request.url = f"{address}{place}{path}?model={model}"  # raw: a client would normalise it
    with limits():
        response = session.send(request, timeout=60)
    assert_an_answer_or_a_reason(response.status_code, response.content)


RAW = st.binary(max_size=40)
CONTROL = st.text(st.characters(max_codepoint=0xFF), max_size=40).map(
    lambda text: text.encode("latin-1")
)
"""Most of them are control characters, which no browser would send."""
PIECES = st.lists(
    st.sampled_from([b"\r\n", b"\n", b" ", b":", b"\x00", b"\x1b[2J"]) | RAW, max_size=8
)


def assert_refused_raw(answer: RawAnswer) -> None:
    """A 4xx with one printable line and all headers."""
    event(f"answered with {answer.status}")
    assert 400 <= answer.status < 500
    assert json.loads(answer.content)["error"].isprintable()
    assert_guarded(answer.headers)


@given(TEXTS.map(lambda text: text.encode("utf-8", "replace")) | CONTROL)
@example(b"localhost.evil.example")
@example(b"evil.example:80")
def test_other_hosts(address, host):
    assume(host.strip().lower() not in (b"localhost", b"127.0.0.1", b"[::1]"))
    with limits(), connect(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n")
        assert_refused_raw(read_answer(connection))


@given(PIECES, st.sampled_from([b"GET / HTTP/1.1", b"POST /api/solve HTTP/1.1", b""]))
def test_requests_that_are_no_http(address, pieces, first):
    """They are refused, or the connection is closed."""
    with limits(), connect(address) as connection:
        connection.sendall(first + b"".join(pieces) + b"\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            assert_refused_raw(read_answer(connection))


WHOLE_REQUESTS = (
    get(),
    get("/api/about"),
    b"POST /api/solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n{}\n",
    b"POST /api/solve HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
)


@pytest.fixture(scope="module")
def unfinished() -> Iterator[list[socket.socket]]:
    """Connections of visitors who never finish what they say."""
    held: list[socket.socket] = []
    yield held
    for connection in held:
        connection.close()


@given(st.lists(st.tuples(st.sampled_from(WHOLE_REQUESTS), st.floats(0, 1)), max_size=4))
def test_slow_and_silent_visitors_keep_nobody_out(address, unfinished, visitors):
    for request, share in visitors:
        unfinished.append(connect(address))
        unfinished[-1].sendall(request[: int(share * (len(request) - 1))])
    while len(unfinished) > 4 * CONNECTIONS:
        unfinished.pop(0).close()
    with limits():
        response = requests.get(address, timeout=60)
    event(f"{len(unfinished) // CONNECTIONS} times as many connections as there may be")
    assert response.status_code == 200
