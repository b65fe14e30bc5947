"""Every page of the site in chromium: on a screen and on a phone, in light and dark."""

import functools
import os
import re
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from support.browser import ARGUMENTS, CHROMIUM, PATIENCE

SITE = Path(os.environ["FINE_SITE"]).resolve()
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
SCREEN, PHONE = (1280, 900), (390, 844)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="a browser is needed: install chromium"),
]
expect.set_options(timeout=PATIENCE)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    return []


@pytest.fixture(scope="module")
def page(browser, address, complaints) -> Page:
    """A tab whose requests and errors are watched."""

    def on_console(message) -> None:
        if not message.location["url"].endswith("/favicon.ico"):  # which browsers ask for unasked
            complaints.append(message.text)

    def on_request(request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            complaints.append(request.url)

    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", on_request)
    return page


@pytest.fixture
def visit(page, address, complaints):
    """Open a page; anything it complains about, and any request elsewhere, fails the test."""

    def visit(path: str, size: tuple[int, int], *, scheme: str = "light") -> Page:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)
        page.goto(address + path)
        return page

    complaints.clear()
    yield visit
    assert not complaints


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_fits_a_phone(path, visit):
    page = visit(path, SCREEN)
    expect(page.locator("h1").first).to_be_visible()
    page.locator("img").evaluate_all("images => Promise.all(images.map(image => image.decode()))")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


class _Loaded(HTMLParser):
    """The addresses that a page makes a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            loaded = name in ("src", "srcset", "poster") or (tag == "link" and name == "href")
            if loaded and value:
                self.addresses.append(value)


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_loaded_from_elsewhere(path):
    parser = _Loaded()
    parser.feed((SITE / path).read_text(encoding="utf-8"))
    assert [found for found in parser.addresses if re.match(r"(https?:)?//", found)] == []


@pytest.mark.parametrize(("scheme", "palette"), [("light", "default"), ("dark", "slate")])
def test_the_colours_follow_the_system(scheme, palette, visit):
    page = visit("index.html", SCREEN, scheme=scheme)
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", palette)


def test_the_search_finds_a_name_of_the_api(visit):
    page = visit("index.html", SCREEN)
    page.locator(".md-search__input").click()
    # What is typed before the index is there is lost.
    expect(page.locator(".md-search-result__meta")).to_contain_text("Type to start searching")
    page.locator(".md-search__input").press_sequentially("solve_many")
    found = page.locator(".md-search-result__link[href$='#fine.solve_many']")
    expect(found.first).to_be_visible()


def test_a_phone_has_the_menu(visit):
    page = visit("quick-start/index.html", PHONE)
    page.locator("label.md-header__button[for=__drawer]").click()
    expect(page.locator(".md-sidebar--primary .md-nav__link--active").first).to_be_in_viewport()
