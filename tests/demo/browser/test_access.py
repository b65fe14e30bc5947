"""The page for everyone: by keyboard, on a phone, in the dark, with a screen reader."""

import pytest
from playwright.sync_api import expect

from support.browser import BEYOND_THE_EDGE, NAMELESS, POOR_CONTRAST, TOO_SMALL, ink

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const at = document.activeElement;
  const shown = at.matches(".chips input") ? at.nextSibling : at;
  return [at.id || at.title || at.type || at.tagName, getComputedStyle(shown).outlineStyle];
}"""


def test_every_control_is_reached_by_tab_and_shows_its_focus(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(FOCUSED)
        if name == "BODY":
            break
        assert outline != "none", f"{name} shows no focus"
        reached.add(name)
    settings = {"tab-play", "model", "source", "theme"}
    play = {"x", "Undo", "Clear", "radio", "range", "new", "again", "map-one"}
    assert settings | play <= reached


def test_a_pad_a_rule_and_a_tab_work_by_keyboard(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    page.locator("#x").focus()
    page.keyboard.press("Backspace")
    page.wait_for_selector("body.missing")
    page.keyboard.press("Space")
    for key in ["ArrowRight"] * 8 + ["ArrowDown"] * 8:
        page.keyboard.press(key)
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowLeft")  # the pen is lifted: nothing is drawn
    expect(page.locator("body.missing")).to_have_count(0)
    assert 15 < ink(page, "x") < 60
    page.locator("#families input:checked").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#happened")).to_contain_text("mirrored")
    page.get_by_role("tab", name="Play").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#options button:enabled")


@pytest.mark.parametrize(
    ("path", "ready"), [("/", "#choices .picked"), ("/#quiz", "#options button:enabled")]
)
def test_a_phone_shows_all_of_it(open_page, path, ready):
    page = open_page(path, width=375, height=740, has_touch=True)
    page.wait_for_selector(ready)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.locator("main *:visible:not(svg *)").evaluate_all(BEYOND_THE_EDGE) == []
    assert page.locator("main button:visible:not(.link)").evaluate_all(TOO_SMALL) == []
    assert page.locator("kbd:visible:not(.options kbd)").count() == 0
    assert "press" not in page.inner_text("main")


def test_a_finger_draws(open_page):
    page = open_page(width=375, height=740, has_touch=True)
    page.wait_for_selector("#choices .picked")
    page.locator("#figure-x button[title=Clear]").tap()
    page.wait_for_selector("body.missing")
    box = page.locator("#x").bounding_box()
    page.touchscreen.tap(box["x"] + 60, box["y"] + 60)
    expect(page.locator("body.missing")).to_have_count(0)
    assert ink(page, "x") > 1


def brightness(page) -> float:
    """Of the page's background, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g)")
    return sum(map(float, colour[:3])) / 3


def test_the_theme_is_the_system_s_until_the_visitor_chooses(open_page):
    page = open_page(color_scheme="dark")
    assert brightness(page) < 60
    page.locator("#theme").click()
    assert brightness(page) > 200
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert brightness(page) > 200  # remembered
    assert brightness(open_page(color_scheme="light")) > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_themes(open_page, scheme):
    """The contrast of every text with its background, by WCAG's formula, is at least 4.5."""
    page = open_page(color_scheme=scheme)
    page.wait_for_selector("#choices .picked")
    assert page.evaluate(POOR_CONTRAST) == []


def test_a_screen_reader_gets_every_name_and_every_answer(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    assert page.evaluate(NAMELESS) == []
    assert page.locator("img:visible:not([alt])").count() == 0
    assert page.locator("#spoken").get_attribute("aria-live") == "polite"
    spoken = page.locator("#spoken").text_content()
    assert page.locator("#named li span").first.inner_text() in spoken
    assert page.locator("#verdict").inner_text() in spoken
