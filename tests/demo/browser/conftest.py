"""The page in a real browser. Any error on it, and any request to another address, fails the test.

Without chromium these tests are skipped; FINE_REQUIRE_BROWSER=1 makes them fail instead.
"""

import os

import pytest
from playwright.sync_api import expect, sync_playwright

from fine.demo.app import make_app
from support.browser import ARGUMENTS, CHROMIUM, PATIENCE
from support.demo import MODEL, served

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")  # no longer: playwright's event loop is in the way of asyncio.run
def browser():
    if CHROMIUM is None:
        reason = "a browser is needed: install chromium (Debian: apt-get install chromium)"
        if os.environ.get("FINE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(browser):
    with served(make_app([MODEL, "affine-omniglot"])) as address:
        yield address


@pytest.fixture
def open_page(browser, address):
    """Open the page as a visitor sees it."""
    contexts, complaints = [], []

    def watch(page) -> None:
        def on_request(request) -> None:
            if not request.url.startswith((address, "data:", "blob:")):
                complaints.append(request.url)

        def on_response(response) -> None:
            if not response.ok:
                complaints.append(f"{response.status} {response.url}")

        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", on_request)
        page.on("response", on_response)

    def open_page(path: str = "/", *, width: int = 1280, height: int = 900, **options: object):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        watch(page)
        page.goto(address + path)
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def failing_page(browser, address):
    """Open the page with requests to one path failing until ``page.unroute`` is called."""
    context = browser.new_context()

    def open_page(path: str, failing: str):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(address + path)
        page.wait_for_selector("body[data-ready]")
        page.route(failing, lambda route: route.abort())
        return page

    yield open_page
    context.close()
