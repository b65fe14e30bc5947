"""The play view: drawing, rules, choices, maps, another model."""

import pytest
from playwright.sync_api import expect

from support.browser import draw, ink, pick

pytestmark = pytest.mark.browser


def test_the_page_answers_before_the_visitor_does_anything(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    assert page.locator("#choices li").count() == 4
    assert page.locator("#named li").count() == 3
    assert page.locator("#map circle").count() > 9 * 50
    assert page.locator("#drawn").get_attribute("src").startswith("data:image/png")
    texts = page.locator("#choices p span").all_inner_texts()
    assert sum(float(text.rstrip(" %")) for text in texts) == pytest.approx(100, abs=3)


def test_a_drawing_is_answered_while_it_is_drawn(open_page):
    page = open_page()
    page.locator("#figure-x button[title=Clear]").click()
    expect(page.locator("body.missing #spoken")).to_contain_text("Draw a first image")
    before = page.locator("#y").get_attribute("src")
    draw(page, "x", (0.3, 0.2), (0.3, 0.8), (0.7, 0.8))
    expect(page.locator("#y")).not_to_have_attribute("src", before)
    expect(page.locator("body.missing")).to_have_count(0)
    drawn = ink(page, "x")
    assert drawn > 20
    draw(page, "x", (0.6, 0.2), (0.8, 0.4))
    assert ink(page, "x") > drawn
    page.locator("#figure-x button[title=Undo]").click()
    assert ink(page, "x") == drawn


def test_another_rule_gets_another_answer(open_page):
    page = open_page()
    happened = page.locator("#happened")
    for family, words in (
        ("reflection", "mirrored left to right"),
        ("scale", "shrunk to 50%"),
        ("translation", "shifted 6 right and 6 up"),
    ):
        pick(page, family)
        expect(happened).to_have_text(words)
    slider = page.locator("#sliders input").first
    expect(slider).to_have_attribute("aria-valuetext", "6")
    slider.press("ArrowRight")
    expect(happened).to_have_text("shifted 9 right and 6 up")
    pick(page, "mix")
    expect(happened).to_contain_text(", then turned 40° left")


def test_a_family_without_sliders_for_its_parameters_has_one_for_its_rules(open_page):
    page = open_page()
    pick(page, "swap")
    slider = page.locator("#sliders input")
    expect(slider).to_have_count(1)
    expect(page.locator("#happened")).to_have_text("cut in quarters, laid out 2 1 4 3")
    slider.press("Home")
    expect(page.locator("#happened")).to_have_text("quarters left in place")


def test_y_can_be_drawn_by_hand(open_page):
    page = open_page()
    pick(page, "hand")
    expect(page.locator("body.missing #spoken")).to_contain_text("field 2")
    draw(page, "y-pad", (0.2, 0.3), (0.8, 0.3), (0.5, 0.8))
    expect(page.locator("#verdict")).to_contain_text("nobody knows")
    assert page.locator("#y").is_hidden() and ink(page, "y-pad") > 20


def test_the_visitor_gets_other_choices(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    wrong = page.locator("#choices li", has_text="both wrong").locator("img")
    before = wrong.get_attribute("src")
    page.locator("#again").click()
    expect(wrong).not_to_have_attribute("src", before)


def test_the_map_can_show_one_family(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    page.locator("#map-one").click()
    expect(page.locator("#map-one")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#map .dots circle:not([data-family=rotation])")).to_have_count(0)
    assert page.locator("#map .dots circle").count() > 100
    expect(page.locator("#map .here")).to_be_visible()


def test_another_model_offers_its_own_families(open_page):
    page = open_page()
    pick(page, "wave")
    expect(page.locator("#happened")).to_contain_text("rippled")
    page.locator("#map-one").click()
    expect(page.locator("#map-one")).to_have_attribute("aria-pressed", "true")
    pick(page, "mix")
    expect(page.locator("#happened")).to_contain_text(", then")
    page.locator("#model").select_option("affine-omniglot")
    expect(page.locator("#map .dots circle[data-family=wave]")).to_have_count(0)
    expect(page.locator("#families label:visible")).to_have_count(5 + 2)  # a mix, and by hand
    pick(page, "shear")
    expect(page.locator("#happened")).to_have_text("slanted 30° sideways")


def test_a_server_that_is_gone_is_reported_until_it_is_back(failing_page):
    page = failing_page("/", "**/api/play")
    page.locator("#again").click()
    page.wait_for_selector("#trouble:visible")
    assert "fine demo" in page.locator("#trouble").inner_text()
    page.unroute("**/api/play")
    page.locator("#again").click()
    page.wait_for_selector("#trouble", state="hidden")


def test_a_busy_server_is_asked_again_and_the_visitor_is_told(failing_page):
    page = failing_page("/", "**/nothing")
    refused = []

    def refuse_once(route) -> None:
        if refused:
            route.fallback()
            return
        refused.append(route.request.url)
        route.fulfill(status=503, headers={"Retry-After": "1"}, json={"error": "too many"})

    page.route("**/api/play", refuse_once)
    page.locator("#again").click()
    page.wait_for_selector("#trouble:visible")
    assert "Many people are playing right now" in page.locator("#trouble").inner_text()
    page.wait_for_selector("#trouble", state="hidden")  # it was asked again, and has answered
    assert len(refused) == 1


def test_a_server_that_stays_busy_is_not_asked_for_ever(failing_page):
    page = failing_page("/", "**/nothing")
    headers = {"Retry-After": "0"}
    page.route(
        "**/api/play",
        lambda route: route.fulfill(status=503, headers=headers, json={"error": "too many"}),
    )
    page.locator("#again").click()
    expect(page.locator("#trouble")).to_contain_text("Please try again in a minute")


def test_the_right_choice_is_not_always_in_the_same_place(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    places = set()
    for family in ("reflection", "scale", "wave", "shear", "swap", "fisheye", "rotation") * 2:
        with page.expect_response("**/api/play") as answered:
            pick(page, family)
        kinds = [choice["kind"] for choice in answered.value.json()["choices"]]
        places.add(kinds.index("right"))
    assert len(places) > 1  # all alike: once in 4 ** 13 runs


def test_the_page_says_how_an_answer_was_made(open_page):
    page = open_page()
    pick(page, "reflection")
    expect(page.locator("#reason")).to_contain_text("Checked on the pixels: ")
    expect(page.locator("#reason")).to_contain_text("The network by itself: ")
    expect(page.locator("#doubts")).to_be_hidden()
