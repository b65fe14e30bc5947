"""A before, an after and other images: the same is done to them, within limits, at their size."""

import asyncio
import base64

import numpy as np
import pytest
from PIL import Image

import fine as library
from fine.demo import photos
from fine.demo.admission import TooBusyError
from fine.demo.guarding import LARGEST_UPLOAD
from fine.demo.models import Models
from support.demo import MODEL, assert_refused
from support.photos import file_of, image_of, rotated, scene, url_of

BEFORE = scene(0, (320, 240))
AFTER = rotated(BEFORE, 37.2)
PAIR = {"before": url_of(file_of(BEFORE)), "after": url_of(file_of(AFTER))}
NEW = scene(1, (300, 400))


@pytest.fixture(scope="module")
def applied(client):
    jpeg = file_of(NEW, "JPEG", quality=80)
    webp = file_of(scene(2, (200, 150)), "WEBP", lossless=True)
    images = [url_of(jpeg, "jpeg"), base64.b64encode(webp).decode(), url_of(b"no image")]
    response = client.post("/api/apply", json=PAIR | {"images": images})
    assert response.status_code == 200, response.json()
    return response.json()


def test_the_rule_is_the_library_s(applied):
    own = library.function(BEFORE, AFTER)
    assert applied["rule"] == str(own.rule) and "rotation 37.2" in applied["rule"]
    assert "±" in applied["rule"]
    assert applied["explained"] and applied["doubts"] == []
    assert applied["residual"] == pytest.approx(own.rule.residual, abs=1e-6)
    assert (applied["canvas"], applied["background"]) == ("keep", "#ffffff")


def test_images_are_drawn_at_their_size_as_the_library_draws_them(applied):
    first, second, _ = applied["images"]
    assert first["image"].startswith("data:image/jpeg;") and (first["width"], first["height"]) == (
        300,
        400,
    )
    assert second["image"].startswith("data:image/png;")
    own = library.function(BEFORE, AFTER).draw(scene(2, (200, 150)))
    assert np.array_equal(np.asarray(image_of(second["image"])), np.asarray(own))


def test_an_image_that_cannot_be_read_stops_no_other(applied):
    assert [bool(one["error"]) for one in applied["images"]] == [False, False, True]
    broken = applied["images"][2]
    assert "image 3 is not an image" in broken["error"] and broken["image"] == ""


def test_a_pair_alone_gives_its_rule(client):
    flipped = BEFORE.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    found = client.post("/api/apply", json=PAIR | {"after": url_of(file_of(flipped))}).json()
    assert found["rule"] == "mirrored left-right" and found["images"] == []


@pytest.mark.slow
def test_an_after_may_be_much_larger(client):
    larger = url_of(file_of(BEFORE.resize((4 * BEFORE.width, 4 * BEFORE.height))))
    applied = client.post("/api/apply", json={"before": PAIR["before"], "after": larger}).json()
    assert applied["rule"].startswith("scale ×4.00") and applied["canvas"] == "expand"


@pytest.mark.slow
def test_what_no_rule_explains_is_drawn_only_if_that_is_asked_for(client, monkeypatch):
    pair = [scene(seed, (24, 24)) for seed in (0, 5)]
    found = library.function(*pair, anyway=True)  # once: it takes seconds
    monkeypatch.setattr(photos, "function", lambda before, after, anyway: found)
    small, other = (url_of(file_of(image)) for image in pair)
    request = {"before": small, "after": other, "images": [PAIR["before"]]}
    refused = client.post("/api/apply", json=request).json()
    assert not refused["explained"] and refused["images"] == [] and refused["residual"] > 0.1
    drawn = client.post("/api/apply", json=request | {"anyway": True}).json()
    size = image_of(drawn["images"][0]["image"]).size
    assert not drawn["explained"] and sorted(size) == [240, 320]  # the nearest rule may turn it


def test_what_a_pair_leaves_open_is_told(client):
    blank = url_of(file_of(Image.new("L", (64, 64))))
    found = client.post("/api/apply", json={"before": blank, "after": blank}).json()
    assert found["doubts"] == ["an image shows nothing but one colour"]


BAD = {
    "no after": ({"after": None}, "after"),
    "text": ({"after": "hello!"}, "after is not base64"),
    "empty": ({"before": ""}, "before is not an image"),
    "cut off": ({"before": PAIR["before"][:2000]}, "before is not"),
    "too many": ({"images": [PAIR["before"]] * (photos.MOST_PHOTOS + 1)}, "at most 8"),
    "unknown field": ({"out": "/etc/passwd"}, "out"),
    "one pixel": (dict.fromkeys(("before", "after"), url_of(file_of(Image.new("L", (1, 1))))), ""),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_example_is_refused(client, name):
    changes, reason = BAD[name]
    assert_refused(client.post("/api/apply", json=PAIR | changes), reason)


def test_large_images_are_refused_before_they_are_decoded(client):
    flat = url_of(file_of(Image.new("1", (6000, 6000))))  # 36 megapixels in a few kilobytes
    assert_refused(client.post("/api/apply", json=PAIR | {"before": flat}), "25 megapixels")


def test_all_images_together_are_limited(client, monkeypatch):
    monkeypatch.setattr(photos, "MOST_PIXELS", 2 * 320 * 240 + 100_000)
    images = [url_of(file_of(scene(3, (320, 240))))] * 2
    drawn = client.post("/api/apply", json=PAIR | {"images": images}).json()["images"]
    assert drawn[0]["error"] == "" and "together" in drawn[1]["error"]


def test_a_request_has_a_largest_size(client):
    response = client.post("/api/apply", content=b" " * (LARGEST_UPLOAD + 1))
    assert_refused(response, f"{LARGEST_UPLOAD:,}", status=413)


def test_nothing_is_written(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    request = PAIR | {"images": [url_of(file_of(NEW, "JPEG"), "jpeg")]}
    assert client.post("/api/apply", json=request).status_code == 200
    assert list(tmp_path.iterdir()) == []


def test_few_wait_and_the_others_are_told_when_to_come_back():
    models = Models([MODEL])

    async def crowd() -> list[object]:
        calls = (models.long_work(sum, [1, 2]) for _ in range(6))
        return await asyncio.gather(*calls, return_exceptions=True)

    answers = asyncio.run(crowd())
    models.close()
    assert answers[:4] == [3] * 4
    assert all(isinstance(one, TooBusyError) and one.retry_after == 12 for one in answers[4:])


def test_a_busy_server_refuses_with_503(client, monkeypatch):
    monkeypatch.setattr(client.app.state.models, "_long_waiting", 4)
    response = client.post("/api/apply", json=PAIR)
    assert_refused(response, "try again in 12 seconds", status=503)
    assert response.headers["Retry-After"] == "12"
