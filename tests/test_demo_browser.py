"""The page in a real browser: drawing, rules, quiz, keyboard, phone, dark; no error and no request to anywhere else.

Needs chromium and skips where there is none; FINE_REQUIRE_BROWSER=1 turns the skipping into failing.
"""

import os
import shutil
import threading
import time

import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright

from fine.demo.app import make_app
from fine.demo.serving import address_of, listen

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]
PATIENCE = 60_000
"""Milliseconds until the page is given up: a busy machine is slow, not wrong."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        reason = "a browser is needed: install chromium (Debian: apt-get install chromium)"
        if os.environ.get("FINE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(browser):
    """The page, served from a thread."""
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(make_app(["all-glyphs"]), log_level="warning", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield address_of(listening)
        server.should_exit = True
        thread.join()


@pytest.fixture
def open_page(browser, address):
    """Open the page as a visitor would see it; whatever it complains about or asks of others fails the test."""
    contexts, complaints = [], []

    def open_page(path: str = "/", *, width: int = 1280, height: int = 900, scheme: str = "light", touch: bool = False):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=touch)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith((address, "data:")) or complaints.append(request.url))
        page.on("response", lambda response: response.ok or complaints.append(f"{response.status} {response.url}"))
        page.goto(address + path)
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def pick(page, family: str) -> None:
    page.locator(f"#families input[value={family}]").check(force=True)


def ink(page, pad: str) -> int:
    """Bright pixels on a pad."""
    return page.locator(f"#{pad}").evaluate(
        """pad => pad.getContext("2d").getImageData(0, 0, pad.width, pad.height).data
                     .filter((value, place) => place % 4 === 0 && value > 127).length"""
    )


def draw(page, pad: str, *points: tuple[float, float]) -> None:
    """Draw with the mouse through points, in fractions of the pad."""
    page.locator(f"#{pad}").scroll_into_view_if_needed()
    box = page.locator(f"#{pad}").bounding_box()
    places = [(box["x"] + right * box["width"], box["y"] + down * box["height"]) for right, down in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()


def test_the_page_answers_before_anything_is_done(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    assert page.locator("#choices li").count() == 4
    assert page.locator("#named li").count() == 3
    assert page.locator("#map circle").count() > 9 * 50
    assert page.locator("#drawn").get_attribute("src").startswith("data:image/png")
    shares = [float(text.rstrip(" %")) for text in page.locator("#choices p span").all_inner_texts()]
    assert sum(shares) == pytest.approx(100, abs=3)


def test_a_drawing_is_answered_while_it_is_drawn(open_page):
    page = open_page()
    page.locator("#figure-x button[title=Clear]").click()
    expect(page.locator("body.missing #spoken")).to_contain_text("Draw a first picture")
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


def test_another_rule_another_answer(open_page):
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


def test_y_can_be_drawn_by_hand(open_page):
    page = open_page()
    pick(page, "hand")
    expect(page.locator("body.missing #spoken")).to_contain_text("field 2")
    draw(page, "y-pad", (0.2, 0.3), (0.8, 0.3), (0.5, 0.8))
    expect(page.locator("#verdict")).to_contain_text("nobody knows")
    assert page.locator("#y").is_hidden() and ink(page, "y-pad") > 20


def test_other_choices_and_the_map_of_one_kind(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    others = page.locator("#choices li", has_text="both wrong").locator("img")
    before = others.get_attribute("src")
    page.locator("#again").click()
    expect(others).not_to_have_attribute("src", before)
    page.locator("#map-kin").click()
    expect(page.locator("#map-kin")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#map .dots circle:not([data-family=rotation])")).to_have_count(0)
    assert page.locator("#map .dots circle").count() > 100
    expect(page.locator("#map .here")).to_be_visible()


def test_three_rounds_of_quiz_by_keyboard(open_page):
    page = open_page("/#quiz")
    score, rounds = 0, 3
    for number in range(rounds):
        page.wait_for_selector("#options button:enabled")
        with page.expect_response(
            lambda response: response.request.method == "POST" and "/puzzles/" in response.url
        ) as answered:
            page.keyboard.press(str(number + 1))
        result = answered.value.json()
        page.wait_for_selector("#next:visible")
        score += result["right"] == number
        right = page.locator("#options li.right")
        assert right.count() == 1 and right.locator("kbd").inner_text().startswith(str(result["right"] + 1))
        assert "you" in page.locator("#options .note").nth(number).inner_text()
        assert "model" in page.locator("#options .note").nth(result["picked"]).inner_text()
        assert result["words"] in page.locator("#result").inner_text()
        page.keyboard.press("4")  # a second thought comes too late
        assert page.locator("#rounds i").count() == number + 1
        page.keyboard.press("Enter")
    page.wait_for_selector("#options button:enabled")
    assert int(page.locator("#score-you").inner_text()) == score
    assert int(page.locator("#score-it").inner_text()) <= rounds


def test_a_quiz_by_mouse(open_page):
    page = open_page()
    page.get_by_role("tab", name="Quiz").click()
    page.wait_for_selector("#options button:enabled")
    page.locator("#options button").nth(2).click()
    page.wait_for_selector("#next:visible")
    assert page.locator("#play").is_hidden() and page.locator("#rounds i").count() == 1


def test_everything_can_be_done_by_keyboard(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => { const at = document.activeElement, shown = at.matches(".chips input") ? at.nextSibling : at;
                       return [at.id || at.title || at.type || at.tagName, getComputedStyle(shown).outlineStyle]; }"""
        )
        if here[0] == "BODY":
            break
        assert here[1] != "none", f"{here[0]} shows no focus"
        reached.add(here[0])
    assert {
        "tab-play",
        "model",
        "source",
        "theme",
        "x",
        "Undo",
        "Clear",
        "radio",
        "range",
        "new",
        "again",
        "map-kin",
    } <= reached
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


@pytest.mark.parametrize("path", ["/", "/#quiz"])
def test_a_phone_shows_all_of_it(open_page, path):
    page = open_page(path, width=375, height=740, touch=True)
    page.wait_for_selector("#choices .picked" if path == "/" else "#options button:enabled")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    beyond = page.locator("main *:visible:not(svg *)").evaluate_all(
        "all => all.filter((one) => one.getBoundingClientRect().right > 376).map(({ outerHTML }) => outerHTML.slice(0, 80))"
    )
    assert beyond == []
    small = page.locator("main button:visible:not(.link)").evaluate_all(
        "all => all.filter((one) => one.getBoundingClientRect().height < 28).map(({ textContent }) => textContent)"
    )
    assert small == []
    if path == "/":
        page.locator("#figure-x button[title=Clear]").tap()
        page.wait_for_selector("body.missing")
        box = page.locator("#x").bounding_box()
        page.touchscreen.tap(box["x"] + 60, box["y"] + 60)
        expect(page.locator("body.missing")).to_have_count(0)
        assert ink(page, "x") > 1


def brightness(page) -> float:
    red, green, blue = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"
    )
    return (red + green + blue) / 3


def test_dark_as_the_system_wishes_and_as_the_visitor_does(open_page):
    page = open_page(scheme="dark")
    assert brightness(page) < 60
    page.locator("#theme").click()
    assert brightness(page) > 200
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert brightness(page) > 200  # remembered
    light = open_page(scheme="light")
    assert brightness(light) > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_themes(open_page, scheme):
    """Contrast of every text with what is behind it, by the WCAG's formula: 4.5 for text of this size."""
    page = open_page(scheme=scheme)
    page.wait_for_selector("#choices .picked")
    poor = page.evaluate(
        """() => {
          const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
          const linear = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
          const light = (colour) => {
            const [red, green, blue] = parts(colour).map((value) => linear(value / 255));
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          };
          const ground = (one) => {
            const colour = getComputedStyle(one).backgroundColor;
            return (parts(colour)[3] ?? 1) > 0 ? colour : ground(one.parentElement);
          };
          const says = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
          const contrast = (one) => {
            const [dark, bright] = [getComputedStyle(one).color, ground(one)].map(light).sort((a, b) => a - b);
            return (bright + 0.05) / (dark + 0.05);
          };
          return [...document.querySelectorAll(":is(header, main, footer) :not(svg *, .unseen)")]
            .filter((one) => one.checkVisibility() && says(one) && contrast(one) < 4.5)
            .map((one) => [contrast(one), one.textContent.trim().slice(0, 30)]);
        }"""
    )
    assert poor == []


def test_what_is_seen_is_also_told(open_page):
    page = open_page()
    page.wait_for_selector("#choices .picked")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas, [role=img]")]
          .filter((one) => one.checkVisibility())
          .filter((one) => !(one.getAttribute("aria-label") || one.labels?.length || one.textContent.trim() || one.title))
          .map(({ outerHTML }) => outerHTML)"""
    )
    assert nameless == []
    assert page.locator("img:visible:not([alt])").count() == 0
    told = page.locator("#spoken").text_content()
    assert page.locator("#spoken").get_attribute("aria-live") == "polite"
    assert page.locator("#named li span").first.inner_text() in told and page.locator("#verdict").inner_text() in told


def test_a_program_that_is_gone_is_said_in_one_line(browser, address):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.route("**/api/play", lambda route: route.abort())
    page.locator("#again").click()
    page.wait_for_selector("#trouble:visible")
    assert "fine demo" in page.locator("#trouble").inner_text()
    page.unroute("**/api/play")
    page.locator("#again").click()
    page.wait_for_selector("#trouble", state="hidden")
    page.close()
