"""Promises of the demo's server: right answers alone and in company, one clear line for bad input, nothing from elsewhere."""

import asyncio
import base64
import io
import json
import math
import shutil
import socket
import threading
import time
import zlib

import numpy as np
import pytest
import torch
from PIL import Image
from starlette.testclient import TestClient

import fine as library
from fine.demo.app import make_app
from fine.demo.batching import Batcher, TooBusyError
from fine.demo.caching import made_once
from fine.demo.function_map import make_map
from fine.demo.guarding import LARGEST_BODY
from fine.demo.messages import Step
from fine.demo.serving import PORT, address_of, listen
from fine.demo.solver import Scoring, Solver, answer_all
from fine.demo.sources import pictures_of, quiz_of
from fine.demo.steps import apply_rules, rule_of
from fine.demo.wire import LARGEST_SIDE, LONGEST_TEXT, PREFIX, read_png, write_png
from fine.demo.wording import in_words
from fine.errors import FineError
from fine.functions.charts import function_vectors
from fine.pretrained import folder_of
from fine.rules import FAMILIES, Rule, Warp, rule_set

MODEL = "all-glyphs"


@pytest.fixture(scope="module")
def client():
    with TestClient(make_app([MODEL])) as client:
        yield client


@pytest.fixture(scope="module")
def glyphs() -> list[str]:
    return [write_png(pixels / 255) for pixels in pictures_of("glyphs", channels=1, size=32).pixels[::20]]


@pytest.fixture(scope="module")
def puzzle(glyphs) -> dict[str, object]:
    """A quarter turn of one glyph, and another glyph turned, mirrored and left alone to choose from."""
    turn, mirror = Rule(FAMILIES["rotation"], (90.0,)), Rule(FAMILIES["reflection"], (1.0, 0.0))
    x, new = (read_png(text) for text in glyphs[:2])
    choices = [apply_rules(new, [mirror]), apply_rules(new, [turn]), new]
    return {
        "model": MODEL,
        "x": glyphs[0],
        "y": write_png(apply_rules(x, [turn])),
        "new": glyphs[1],
        "choices": [write_png(choice) for choice in choices],
    }


def play(glyphs: list[str], **changes: object) -> dict[str, object]:
    steps = [{"family": "rotation", "parameters": [90]}]
    return {"model": MODEL, "source": "glyphs", "x": glyphs[0], "new": glyphs[1], "steps": steps} | changes


# --- good input -------------------------------------------------------------------------------------------------------------


def test_solving_over_the_network_is_solving(client, puzzle):
    answer = client.post("/api/solve", json=puzzle).json()
    pictures = [read_png(puzzle[name]) for name in ("x", "y", "new")]
    own = library.solve(library.load(MODEL), *pictures, [read_png(choice) for choice in puzzle["choices"]])
    assert answer["index"] == own.index == 1
    assert answer["probabilities"] == pytest.approx(own.probabilities, abs=1e-5)


def test_what_the_page_shows_belongs_together(client, glyphs):
    played = client.post("/api/play", json=play(glyphs)).json()
    turn = [Rule(FAMILIES["rotation"], (90.0,))]
    assert torch.allclose(read_png(played["y"]), apply_rules(read_png(glyphs[0]), turn), atol=1 / 255)
    kinds = [choice["kind"] for choice in played["choices"]]
    assert sorted(kinds) == ["both wrong", "right", "wrong object", "wrong rule"]
    right = read_png(played["choices"][kinds.index("right")]["picture"])
    assert torch.allclose(right, apply_rules(read_png(glyphs[1]), turn), atol=1 / 255)
    chances = [choice["probability"] for choice in played["choices"]]
    assert sum(chances) == pytest.approx(1, abs=1e-4) and played["picked"] == chances.index(max(chances))
    assert played["named"][0]["words"] == "turned 90° left"
    own = library.explain(library.load(MODEL), read_png(glyphs[0]), apply_rules(read_png(glyphs[0]), turn))
    assert [rule["probability"] for rule in played["named"]] == pytest.approx([rule.probability for rule in own], abs=1e-4)
    named = Rule(FAMILIES[own[0].family], own[0].parameters)
    assert torch.allclose(read_png(played["drawn"]), apply_rules(read_png(glyphs[1]), [named]), atol=1 / 255)


def test_another_seed_other_wrong_choices(client, glyphs):
    first, again, other = (client.post("/api/play", json=play(glyphs, seed=seed)).json()["choices"] for seed in (1, 1, 2))
    assert first == again != other


def test_of_y_by_hand_nobody_knows_the_right_choice(client, glyphs):
    played = client.post("/api/play", json=play(glyphs, steps=[], y=glyphs[2])).json()
    assert [choice["kind"] for choice in played["choices"]] == ["possible"] * 4
    assert len({choice["picture"] for choice in played["choices"]}) == 4
    assert played["named"][0]["words"] in [choice["words"] for choice in played["choices"]]


def test_a_quiz_tells_the_answer_only_after_a_choice(client):
    puzzles, render = quiz_of("glyphs", rules="all", channels=1, size=32)
    for number in (0, 1, 999):
        asked = client.get(f"/api/puzzles/glyphs/{number}", params={"model": MODEL}).json()
        assert set(asked) == {"number", "x", "y", "new", "choices"}
        result = client.post(f"/api/puzzles/glyphs/{number}", json={"model": MODEL, "source": "glyphs", "choice": 2}).json()
        batch = render(puzzles.specs[number : number + 1])
        assert result["right"] == int(batch.answers[0]) and result["kinds"][result["right"]] == "right"
        shown = read_png(asked["choices"][result["right"]])
        assert torch.allclose(shown, batch.pictures[0, 3 + result["right"]], atol=1 / 255)


def test_quiz_pictures_are_of_classes_never_trained_on():
    trained = library.load_images("glyphs").pixels.flatten(1)
    shown = pictures_of("glyphs", channels=1, size=32).pixels.flatten(1)
    assert not (shown[:, None] == trained[None, ::7]).all(-1).any()
    assert min(int(name.split()[1]) for name in pictures_of("glyphs", channels=1, size=32).class_names) >= 400


def test_everything_on_offer_can_be_played(client, glyphs):
    about = client.get("/api/about").json()
    assert [model["name"] for model in about["models"]] == [MODEL] and about["sources"][0]["name"] == "glyphs"
    assert {family["name"] for family in about["families"]} == set(FAMILIES)
    for family in about["families"]:
        step = {"family": family["name"], "parameters": family["rules"][-1]}
        played = client.post("/api/play", json=play(glyphs, steps=[step]))
        assert played.status_code == 200, played.json()
        offered = [set(control["values"]) for control in family["controls"]]
        assert all(value in values for value, values in zip(step["parameters"], offered, strict=False))


def test_the_map_shows_every_family_and_the_page_is_put_among_its_kin(client, glyphs):
    points = client.get("/api/map", params={"model": MODEL}).json()
    assert {point["family"] for point in points} == set(FAMILIES)
    assert all(abs(point["x"]) <= 1.1 and abs(point["y"]) <= 1.1 for point in points)
    played = client.post("/api/play", json=play(glyphs, map="rotation")).json()
    ring = client.get("/api/map", params={"model": MODEL, "family": "rotation"}).json()
    near = sorted(ring, key=lambda point: math.dist((point["x"], point["y"]), played["place"]))[:24]
    angles = [point["hue"] * 360 for point in near]
    off = [min(abs(angle - 90), 360 - abs(angle - 90)) for angle in angles]
    assert np.median(off) < 60  # by chance it would be 90


def test_a_map_puts_its_own_functions_where_they_are():
    solver, images = Solver.of(MODEL), pictures_of("glyphs", channels=1, size=32)
    rules = rule_set("scale")
    made = make_map(solver.model, images, rules, count=8)
    again = make_map(solver.model, images, rules, count=8)
    assert torch.equal(made.points, again.points) and len(made.points) == 8
    x = images.pixels[:3] / 255
    places = made.place(function_vectors(solver.model, x, Warp(rules, size=32)(x, torch.tensor([0, 1, 2]))))
    assert places.shape == (3, 2) and (places.abs() <= 1.1).all()


@pytest.mark.parametrize(("name", "rules"), [("all-glyphs", "all"), ("affine-omniglot", "affine"), ("a folder", "affine")])
def test_a_model_is_asked_about_the_rules_it_was_trained_on(name, rules, tmp_path):
    folder = tmp_path / "someones"
    shutil.copytree(folder_of("affine-omniglot"), folder)
    solver = Solver.of(str(folder) if name == "a folder" else name)
    assert solver.name == ("someones" if name == "a folder" else name)
    assert list(solver.rules.families) == list(rule_set(rules).families)


def test_openapi_describes_what_is_sent(client):
    spec = client.get("/openapi.json").json()
    body = spec["paths"]["/api/solve"]["post"]
    assert body["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Puzzle")
    assert body["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")
    assert spec["components"]["schemas"]["Puzzle"]["properties"]["choices"]["maxItems"] == 8


# --- bad input --------------------------------------------------------------------------------------------------------------


def png(width: int, height: int, rows: bytes) -> str:
    """A PNG that claims to be of this size, whatever is in it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, 0, 0, 0, 0))
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return PREFIX + base64.b64encode(file).decode()


def jpeg() -> str:
    file = io.BytesIO()
    Image.new("L", (32, 32)).save(file, "JPEG")
    return base64.b64encode(file.getvalue()).decode()


BAD_PICTURES = {
    "bomb": (png(20_000, 20_000, bytes(20_001 * 100)), "20,000 × 20,000"),
    "wide": (png(LARGEST_SIDE + 1, 1, bytes(LARGEST_SIDE + 2)), f"at most {LARGEST_SIDE}"),
    "no size": (png(0, 0, b""), "0 × 0"),
    "cut off": (png(32, 32, bytes(33 * 32))[:-40], "base64|PNG|read"),
    "only a head": (png(32, 32, b"")[:44], "read|base64"),
    "JPEG": (jpeg(), "no PNG"),
    "text": ("hello", "base64|PNG"),
    "empty": ("", "PNG"),
    "not ASCII": ("é" * 10, "base64"),
    "other URL": ("https://example.org/x.png", "base64"),
    "long": ("A" * (LONGEST_TEXT + 1), f"{LONGEST_TEXT}"),
}


@pytest.mark.parametrize("name", BAD_PICTURES)
def test_a_bad_picture_is_refused_in_one_line(client, puzzle, name):
    text, reason = BAD_PICTURES[name]
    for changed in ({"x": text}, {"choices": [puzzle["x"], text]}):
        assert_refused(client.post("/api/solve", json=puzzle | changed), reason)


def assert_refused(response, reason: str, status: int = 422) -> None:
    assert response.status_code == status
    assert list(response.json()) == ["error"]
    line = response.json()["error"]
    assert "\n" not in line and len(line) < 300
    assert any(part in line for part in reason.split("|")), line


BAD_PUZZLES = {
    "no choices": ({"choices": []}, "choices"),
    "10,000 choices": ({"choices": ["x"] * 10_000}, "at most 8"),
    "number for a picture": ({"x": 7}, "x: "),
    "nothing for a picture": ({"y": None}, "y: "),
    "unknown field": ({"path": "/etc/passwd"}, "path"),
    "unknown model": ({"model": "../../etc"}, "all-glyphs"),
    "long model": ({"model": "m" * 300}, "model"),
}


@pytest.mark.parametrize("name", BAD_PUZZLES)
def test_a_bad_puzzle_is_refused_in_one_line(client, puzzle, name):
    changes, reason = BAD_PUZZLES[name]
    assert_refused(client.post("/api/solve", json=puzzle | changes), reason)


BAD_STEPS = {
    "unknown family": ([{"family": "twirl", "parameters": [1]}], "twirl"),
    "too few parameters": ([{"family": "shear", "parameters": [15]}], "2 parameters"),
    "too far": ([{"family": "translation", "parameters": [1e9, 0]}], "-9 to 9"),
    "between": ([{"family": "swap", "parameters": [0, 0, 0, 0.5]}], "grid"),
    "text": ([{"family": "rotation", "parameters": ["90"]}], "number"),
    "too many": ([{"family": "rotation", "parameters": [90]}] * 5, "at most 4"),
    "none": ([], "steps"),
}


@pytest.mark.parametrize("name", BAD_STEPS)
def test_bad_rules_are_refused_in_one_line(client, glyphs, name):
    steps, reason = BAD_STEPS[name]
    assert_refused(client.post("/api/play", json=play(glyphs, steps=steps)), reason)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(client, glyphs, number):
    body = json.dumps(play(glyphs)).replace("[90]", f"[{number}]")
    assert number in body
    assert_refused(client.post("/api/play", content=body, headers={"Content-Type": "application/json"}), "number")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 50_000])
def test_a_body_that_is_no_puzzle_is_refused(client, body):
    response = client.post("/api/solve", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= response.status_code < 500 and "\n" not in response.json()["error"]


def test_a_large_body_is_refused_before_it_is_parsed(client):
    assert_refused(client.post("/api/solve", content=b" " * (LARGEST_BODY + 1)), "bytes", status=413)

    def endless():
        for _ in range(1000):
            yield b"[" * 10_000

    assert_refused(client.post("/api/solve", content=endless()), "bytes", status=413)


def test_other_bad_requests_are_refused_in_one_line(client):
    assert_refused(client.get("/api/pictures/etc", params={"model": MODEL}), "etc")
    assert_refused(client.get("/api/map", params={"model": MODEL, "family": "twirl"}), "twirl")
    for number in ("-1", "1000", "1e3", "x"):
        assert_refused(client.get(f"/api/puzzles/glyphs/{number}", params={"model": MODEL}), "number|puzzle")
    assert_refused(client.get("/nowhere"), "Not Found", status=404)
    assert_refused(client.get("/api/solve"), "Method", status=405)
    assert_refused(client.get("/%1b[2J"), "GET /�[2J: Not Found", status=404)  # a path that would clear a terminal
    assert client.get("/page/../app.py").status_code == 404
    assert client.get("/page/%2e%2e/app.py").status_code == 404


def test_every_answer_carries_the_headers_that_keep_others_out(client):
    for path in ("/", "/page/style.css", "/api/about", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy and "*" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and "frame-ancestors 'none'" in policy


def test_the_page_names_no_other_place(client):
    for name in (
        "index.html",
        "style.css",
        "page.js",
        "play.js",
        "quiz.js",
        "pad.js",
        "rules.js",
        "map.js",
        "api.js",
        "theme.js",
    ):
        text = client.get(f"/page/{name}").text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text and "url(" not in text


# --- rules on the page ------------------------------------------------------------------------------------------------------


def test_one_rule_does_what_it_does_in_puzzles():
    picture = pictures_of("glyphs", channels=1, size=32).pixels[8] / 255
    rules = rule_set("all")
    warped = Warp(rules, size=32)(picture.expand(len(rules), -1, -1, -1), torch.arange(len(rules)))
    for rule, expected in zip(rules.rules, warped, strict=True):
        assert torch.allclose(apply_rules(picture, [rule]), expected, atol=1e-4), str(rule)


def test_rules_follow_each_other_in_order():
    picture = pictures_of("glyphs", channels=1, size=32).pixels[8] / 255
    turn, mirror = Rule(FAMILIES["rotation"], (90.0,)), Rule(FAMILIES["reflection"], (1.0, 0.0))
    half = Rule(FAMILIES["black-white"], (0.0, 0.0, 1.0))
    for first, second in ((turn, mirror), (mirror, turn), (half, turn), (turn, half)):
        together = apply_rules(picture, [first, second])
        assert torch.allclose(together, apply_rules(apply_rules(picture, [first]), [second]), atol=1e-4)
    assert not torch.allclose(apply_rules(picture, [turn, mirror]), apply_rules(picture, [mirror, turn]), atol=0.1)


def test_rules_in_words_differ():
    for name, family in FAMILIES.items():
        words = [in_words(Rule(family, parameters)) for parameters in family.grid]
        assert len(set(words)) == len(words), name


def test_rules_between_those_of_the_grid_are_taken():
    assert rule_of(Step(family="rotation", parameters=[37.5])).parameters == (37.5,)


# --- batches ----------------------------------------------------------------------------------------------------------------


def test_a_batch_answers_as_one_by_one():
    solver = Solver.of(MODEL)
    puzzles, render = quiz_of("glyphs", rules="all", channels=1, size=32)
    pictures = render(puzzles.specs[:24]).pictures
    fewer = [pictures[number, : 7 - number % 3] for number in range(24)]  # of four, three and two choices
    questions = [Scoring(MODEL, some) for some in fewer]
    together = answer_all({MODEL: solver}, questions)
    for question, answer in zip(questions, together, strict=True):
        (alone,) = answer_all({MODEL: solver}, [question])
        assert len(answer) == len(question.pictures) - 3
        assert torch.allclose(alone, answer, atol=1e-5)


def test_questions_asked_together_are_answered_together():
    sizes: list[int] = []

    def squares(questions):
        sizes.append(len(questions))
        return [question**2 for question in questions]

    async def ask_all(batcher):
        return await asyncio.gather(*(batcher.ask(number) for number in range(96)))

    batcher = Batcher(squares, gather=60, most=32)  # it need not wait so long: three batches are full
    assert asyncio.run(ask_all(batcher)) == [number**2 for number in range(96)]
    batcher.close()
    assert sizes == [32, 32, 32] and batcher.answered == 96 and batcher.batches == 3


def test_one_bad_question_spoils_no_other():
    def inverse(questions):
        return [1 / question for question in questions]

    async def ask_all(batcher):
        return await asyncio.gather(*(batcher.ask(number) for number in (1, 0, 2)), return_exceptions=True)

    batcher = Batcher(inverse, gather=60, most=3)
    one, error, half = asyncio.run(ask_all(batcher))
    batcher.close()
    assert (one, half) == (1, 0.5) and isinstance(error, ZeroDivisionError)


def test_a_full_queue_turns_away_and_recovers():
    go = threading.Event()

    def slowly(questions):
        assert go.wait(30)
        return questions

    async def crowd(batcher):
        tasks = [asyncio.ensure_future(batcher.ask(number)) for number in range(20)]
        while sum(task.done() for task in tasks) < 20 - 1 - 5 - 1:  # all but the batch of one at work and five that wait
            await asyncio.sleep(0.001)
        go.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        return answers, await batcher.ask("later")

    batcher = Batcher(slowly, gather=0, most=1, waiting=5)
    answers, later = asyncio.run(crowd(batcher))
    batcher.close()
    turned_away = [answer for answer in answers if isinstance(answer, TooBusyError)]
    assert 13 <= len(turned_away) <= 15 and later == "later"
    assert [answer for answer in answers if not isinstance(answer, TooBusyError)] == list(range(20 - len(turned_away)))


def test_two_hundred_visitors_at_once_are_all_answered(puzzle):
    """Over the whole stack but the network: every answer is there, and is the one a single visitor gets."""
    app = make_app([MODEL])

    async def visit(client):
        return await asyncio.gather(*(client.post("/api/solve", json=puzzle) for _ in range(200)))

    async def all_visits():
        import httpx2

        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://demo") as client:
            alone = (await client.post("/api/solve", json=puzzle)).json()
            return alone, await visit(client)

    alone, responses = asyncio.run(all_visits())
    batcher = app.state.batcher
    batcher.close()
    assert [response.status_code for response in responses] == [200] * 200
    for response in responses:
        assert response.json()["index"] == alone["index"]
        assert response.json()["probabilities"] == pytest.approx(alone["probabilities"], abs=1e-5)
    assert batcher.answered == 201


def test_what_many_ask_for_at_once_is_made_once():
    """Visitors who opened the page together each had a map made for them, and took a gigabyte for it."""
    made, everyone = [], threading.Barrier(16)

    @made_once(2)
    def make(name):
        made.append(name)
        time.sleep(0.05)  # so long that all of them come meanwhile
        return name * 2

    def ask(answers):
        everyone.wait()
        answers.append(make("map"))

    answers: list[str] = []
    threads = [threading.Thread(target=ask, args=(answers,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["map"] and answers == ["mapmap"] * 16


# --- serving ----------------------------------------------------------------------------------------------------------------


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


def test_answers_leave_at_once():
    """Without TCP_NODELAY a small answer on a connection in use waits until the last one is acknowledged, 40 ms."""

    async def option_of_a_visitor() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def met(_, writer):
            seen.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listen("127.0.0.1", 0) as listening:
            async with await asyncio.start_server(met, sock=listening):
                _, writer = await asyncio.open_connection(*listening.getsockname())
                writer.close()
                return await seen

    assert asyncio.run(option_of_a_visitor())


@pytest.mark.parametrize(
    ("host", "port", "reason"), [("127.0.0.1", 70_000, "no port"), ("no.such.host.invalid", None, "no address")]
)
def test_an_address_that_cannot_be_is_one_clear_line(host, port, reason):
    with pytest.raises(FineError, match=reason):
        listen(host, port)


def test_the_command_says_what_is_missing(fine, monkeypatch):
    monkeypatch.setattr("fine.cli.demo.find_spec", lambda name: None if name == "uvicorn" else object())
    outcome = fine("demo", "--no-open")
    assert outcome.code == 2 and "needs uvicorn: `pip install uvicorn`" in outcome.err


def test_the_command_refuses_an_unknown_model(fine):
    outcome = fine("demo", "--no-open", "--model", "no-such-model")
    assert outcome.code == 2 and "no-such-model" in outcome.err and MODEL in outcome.err
