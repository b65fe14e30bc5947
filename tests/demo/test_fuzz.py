"""Whatever is sent to the server, it answers, or refuses with a 4xx and a reason, within limits.

The limits are 5 seconds and a gigabyte. Requests are made from the server's own description,
/openapi.json: some follow it, some break it.
"""

import base64
import io
import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import requests
import schemathesis
from hypothesis import event, given
from hypothesis import strategies as st
from PIL import Image
from schemathesis import Case, GenerationMode

from fine.demo.app import make_app
from fine.demo.wire import PREFIX
from fine.rules import FAMILIES
from support.demo import MODEL, served
from support.fuzzing import TEXTS, damaged, limits, spoilt

pytestmark = pytest.mark.slow

APP = make_app([MODEL])
DESCRIPTION = schemathesis.openapi.from_dict(APP.openapi())
OPERATIONS = [operation.ok() for operation in DESCRIPTION.get_all_operations()]
SOURCES = ("glyphs", "omniglot")


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
    with served(APP, log_level="critical") as address:
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


METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "X")
PLACES = ("/", "/page/", "/api/", "/api/pictures/", "/api/puzzles/glyphs/", "//")
ABOVE = ("/page/../", "/page/%2e%2e/")


@given(st.sampled_from(METHODS), st.sampled_from(PLACES + ABOVE), TEXTS, TEXTS)
def test_odd_paths(address, session, method, place, text, query):
    path, model = (quote(part.encode("utf-8", "surrogatepass")) for part in (text, query))
    request = session.prepare_request(requests.Request(method, address))
    request.url = f"{address}{place}{path}?model={model}"  # raw: a client would normalise it
    with limits():
        response = session.send(request, timeout=60)
    assert_an_answer_or_a_reason(response.status_code, response.content)
