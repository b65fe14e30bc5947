"""Good requests: the server's answers are those of the library, and its parts agree."""

import math

import numpy as np
import pytest
import torch

import fine as library
from fine.demo.sources import quiz_of
from fine.demo.wire import read_png
from fine.rules import FAMILIES, Rule, apply_rules, rule_set
from support.demo import MODEL, play_request

QUARTER_TURN = [Rule(FAMILIES["rotation"], (90.0,))]


def test_the_server_solves_as_the_library_does(client, puzzle):
    answer = client.post("/api/solve", json=puzzle).json()
    images = [read_png(puzzle[name]) for name in ("x", "y", "new")]
    choices = [read_png(choice) for choice in puzzle["choices"]]
    own = library.solve(library.load(MODEL), *images, choices)
    assert answer["index"] == own.index == 1
    assert answer["probabilities"] == pytest.approx(own.probabilities, abs=1e-5)
    assert answer["model_probabilities"] == pytest.approx(own.model_probabilities, abs=1e-5)
    assert answer["rule"] == {"words": "turned 90° left", "label": own.rule.label}
    assert answer["verified"] and own.verified
    assert answer["doubts"] == list(own.doubts) == []


def test_what_the_library_doubts_the_server_doubts(client, puzzle):
    same = puzzle | {"choices": [puzzle["choices"][1]] * 2}
    answer = client.post("/api/solve", json=same).json()
    assert answer["doubts"] == ["two choices are equally good"] and not answer["verified"]


@pytest.mark.slow
def test_y_and_the_choices_are_made_by_the_rule(client, glyphs):
    played = client.post("/api/play", json=play_request(glyphs)).json()
    x, new = (read_png(text) for text in glyphs[:2])
    assert torch.allclose(read_png(played["y"]), apply_rules(x, QUARTER_TURN), atol=1 / 255)
    kinds = [choice["kind"] for choice in played["choices"]]
    assert sorted(kinds) == ["both wrong", "right", "wrong object", "wrong rule"]
    right = read_png(played["choices"][kinds.index("right")]["image"])
    assert torch.allclose(right, apply_rules(new, QUARTER_TURN), atol=1 / 255)


def test_the_model_picks_the_most_probable_choice(client, glyphs):
    played = client.post("/api/play", json=play_request(glyphs)).json()
    probabilities = [choice["probability"] for choice in played["choices"]]
    assert sum(probabilities) == pytest.approx(1, abs=1e-4)
    assert played["picked"] == probabilities.index(max(probabilities))


def test_the_server_names_and_draws_the_rules_that_the_library_names(client, glyphs):
    played = client.post("/api/play", json=play_request(glyphs)).json()
    x, new = (read_png(text) for text in glyphs[:2])
    y = apply_rules(x, QUARTER_TURN)
    assert played["named"][0]["words"] == "turned 90° left"
    for field, verify in (("named", True), ("model_named", False)):
        own = library.explain(library.load(MODEL), x, y, rules="all", verify=verify)
        probabilities = [rule["probability"] for rule in played[field]]
        assert probabilities == pytest.approx([rule.probability for rule in own], abs=1e-4)
    drawn = apply_rules(new, own[0].rules)
    assert torch.allclose(read_png(played["drawn"]), drawn, atol=1 / 255)


def test_the_seed_alone_decides_which_choices_are_wrong(client, glyphs):
    first, again, other = (
        client.post("/api/play", json=play_request(glyphs, seed=seed)).json()["choices"]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_no_choice_is_called_right_if_y_was_drawn_by_hand(client, glyphs):
    played = client.post("/api/play", json=play_request(glyphs, steps=[], y=glyphs[2])).json()
    assert [choice["kind"] for choice in played["choices"]] == ["possible"] * 4
    assert len({choice["image"] for choice in played["choices"]}) == 4
    assert played["named"][0]["words"] in [choice["words"] for choice in played["choices"]]


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 999])
def test_the_quiz_gives_the_answer_only_after_a_choice(client, number):
    path = f"/api/puzzles/glyphs/{number}"
    shown = client.get(path, params={"model": MODEL}).json()
    assert set(shown) == {"number", "x", "y", "new", "choices"}
    result = client.post(path, json={"model": MODEL, "source": "glyphs", "choice": 2}).json()
    puzzles, render = quiz_of("glyphs", rules="all", channels=1, size=32)
    batch = render(puzzles.specs[number : number + 1])
    assert result["right"] == int(batch.answers[0])
    assert result["kinds"][result["right"]] == "right"
    right = read_png(shown["choices"][result["right"]])
    assert torch.allclose(right, batch.images[0, 3 + result["right"]], atol=1 / 255)


@pytest.mark.slow
def test_everything_on_offer_can_be_played(client, glyphs):
    about = client.get("/api/about").json()
    assert [model["name"] for model in about["models"]] == [MODEL]
    assert about["sources"][0]["name"] == "glyphs"
    assert {family["name"] for family in about["families"]} == set(rule_set("all").families)
    for family in about["families"]:
        step = {"family": family["name"], "parameters": family["rules"][-1]}
        played = client.post("/api/play", json=play_request(glyphs, steps=[step]))
        assert played.status_code == 200, played.json()
        offered = [set(control["values"]) for control in family["controls"]]
        for value, values in zip(step["parameters"], offered, strict=False):
            assert value in values


def test_the_map_of_everything_shows_every_family(client):
    points = client.get("/api/map", params={"model": MODEL}).json()
    assert {point["family"] for point in points} == set(rule_set("all").families)
    assert all(abs(point["x"]) <= 1.1 and abs(point["y"]) <= 1.1 for point in points)


def test_the_function_on_the_page_lies_near_functions_like_it(client, glyphs):
    played = client.post("/api/play", json=play_request(glyphs, map="rotation")).json()
    points = client.get("/api/map", params={"model": MODEL, "family": "rotation"}).json()

    def distance(point: dict[str, float]) -> float:
        return math.dist((point["x"], point["y"]), played["place"])

    angles = [point["hue"] * 360 for point in sorted(points, key=distance)[:24]]
    apart = [min(abs(angle - 90), 360 - abs(angle - 90)) for angle in angles]
    assert np.median(apart) < 60  # by chance it would be 90


def test_openapi_describes_requests_and_refusals(client):
    spec = client.get("/openapi.json").json()
    solve = spec["paths"]["/api/solve"]["post"]
    request = solve["requestBody"]["content"]["application/json"]["schema"]
    refusal = solve["responses"]["422"]["content"]["application/json"]["schema"]
    assert request["$ref"].endswith("/Puzzle") and refusal["$ref"].endswith("/Problem")
    assert spec["components"]["schemas"]["Puzzle"]["properties"]["choices"]["maxItems"] == 8
