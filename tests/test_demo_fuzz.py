"""Whatever is sent to the page's server: an answer or a 4xx with a reason, in 5 seconds and a gigabyte at most.

Requests are made from the server's own description, /openapi.json: such as it asks for, and such as break it.
"""

import base64
import io
import json
import threading
import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import requests
import schemathesis
import uvicorn
from hypothesis import event, given
from hypothesis import strategies as st
from PIL import Image
from schemathesis import Case, GenerationMode

from fine.demo.app import make_app
from fine.demo.serving import address_of, listen
from fine.demo.wire import PREFIX
from fine.rules import FAMILIES
from fuzzing import TEXTS, damaged, limits, spoilt

MODEL = "all-glyphs"
APP = make_app([MODEL])
OPERATIONS = [operation.ok() for operation in schemathesis.openapi.from_dict(APP.openapi()).get_all_operations()]


def png(mode: str, side: int) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((side, side)).convert(mode).save(file, "PNG")
    return file.getvalue()


PNGS = [png(mode, side) for mode, side in (("L", 32), ("RGBA", 40), ("P", 7), ("1", 512))]
WHOLE = st.sampled_from(PNGS)
PICTURES = st.one_of(*[WHOLE] * 7, WHOLE.flatmap(damaged)).map(lambda content: PREFIX + base64.b64encode(content).decode())
STEPS = st.sampled_from(list(FAMILIES.values())).flatmap(
    lambda family: st.fixed_dictionaries(
        {
            "family": st.just(family.name),
            "parameters": st.sampled_from(family.grid).map(list) | st.lists(st.floats(-9, 9), max_size=4),
        }
    )
)
KNOWN: dict[str, st.SearchStrategy] = {
    "model": st.just(MODEL),
    "source": st.sampled_from(["glyphs", "omniglot"]),
    "family": st.sampled_from(["all", *FAMILIES]),
    "map": st.sampled_from(["all", *FAMILIES]),
    "number": st.integers(-5, 1005),
    "choice": st.integers(-1, 4),
    "choices": st.lists(PICTURES, min_size=2, max_size=4),
    "steps": st.lists(STEPS, max_size=2),
    **dict.fromkeys(("x", "y", "new"), PICTURES),
}
"""What a description cannot tell: names that are there, and pictures, whole or damaged."""


@st.composite
def made_by_the_description(draw: st.DrawFn) -> Case:
    """A request as the description has it, or one that breaks it; most of what it names is there, or nothing would get far."""
    operation = draw(st.sampled_from(OPERATIONS))
    takes_something = operation.body or operation.query or operation.path_parameters
    modes = [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if takes_something else [])]
    case = draw(operation.as_strategy(generation_mode=draw(st.sampled_from(modes))))
    for part in (case.path_parameters, case.query, case.body):
        for name in sorted(part.keys() & KNOWN.keys()) if isinstance(part, dict) else ():
            if draw(st.integers(0, 7)):
                part[name] = draw(KNOWN[name])
    return case


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server, on a thread of this process, so that its time and memory are counted."""
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(APP, log_level="critical", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        where = address_of(listening)
        for source in ("glyphs", "omniglot"):  # reading a source for the first time takes as long as its files are large
            requests.get(f"{where}/api/puzzles/{source}/0", params={"model": MODEL}, timeout=600)
        yield where
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False  # no proxy stands between this machine and itself
        yield session


def assert_an_answer_or_a_reason(status: int, content: bytes) -> None:
    """200, or a 4xx and one line that says why."""
    event(f"answered with {status}")
    assert status == 200 or 400 <= status < 500, content
    if status != 200:
        reason = json.loads(content)["error"]
        assert reason and reason.isprintable() and len(reason) < 2000


@given(made_by_the_description())
def test_requests(address, session, case):
    with limits():
        response = case.call(base_url=address, session=session, timeout=60)
    event(case.operation.label)
    assert_an_answer_or_a_reason(response.status_code, response.content)


PICTURE = PREFIX + base64.b64encode(PNGS[0]).decode()
PUZZLE = {"model": MODEL, "x": PICTURE, "y": PICTURE, "new": PICTURE, "choices": [PICTURE, PICTURE]}
PLAY = {"model": MODEL, "source": "glyphs", "x": PICTURE, "new": PICTURE, "steps": [{"family": "rotation", "parameters": [90]}]}
BODIES = st.sampled_from([("/api/solve", PUZZLE), ("/api/play", PLAY)])


@given(BODIES.flatmap(lambda kind: st.tuples(st.just(kind[0]), damaged(json.dumps(kind[1]).encode()) | spoilt(kind[1]))))
def test_bodies(address, session, sent):
    path, body = sent
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    with limits():
        response = session.post(address + path, data=content, headers={"Content-Type": "application/json"}, timeout=60)
    assert_an_answer_or_a_reason(response.status_code, response.content)


PLACES = ["/", "/page/", "/api/", "/api/pictures/", "/api/puzzles/glyphs/", "/page/../", "/page/%2e%2e/", "//"]


@given(st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "X"]), st.sampled_from(PLACES), TEXTS, TEXTS)
def test_paths(address, session, method, place, text, query):
    path, asked = (quote(part.encode("utf-8", "surrogatepass")) for part in (text, query))
    request = session.prepare_request(requests.Request(method, address))
    request.url = f"{address}{place}{path}?model={asked}"  # as it stands: a client would tidy it up
    with limits():
        response = session.send(request, timeout=60)
    assert_an_answer_or_a_reason(response.status_code, response.content)
