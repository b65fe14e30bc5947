"""The page in chromium: how to find the browser, and what a visitor does with mouse and pads."""

import shutil

from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60_000
"""Milliseconds until a step counts as failed: a busy machine is slow, not wrong."""


def pick(page: Page, family: str) -> None:
    """Choose what happens to x."""
    page.locator(f"#families input[value={family}]").check(force=True)


def ink(page: Page, pad: str) -> int:
    """Bright pixels on a pad."""
    return page.locator(f"#{pad}").evaluate(
        """pad => pad.getContext("2d").getImageData(0, 0, pad.width, pad.height).data
                     .filter((value, place) => place % 4 === 0 && value > 127).length"""
    )


def draw(page: Page, pad: str, *points: tuple[float, float]) -> None:
    """Draw with the mouse through points, in fractions of the pad."""
    page.locator(f"#{pad}").scroll_into_view_if_needed()
    box = page.locator(f"#{pad}").bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()
