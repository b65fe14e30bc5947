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

BEYOND_THE_EDGE = """all => all
  .filter((one) => one.getBoundingClientRect().right > 376)
  .map(({ outerHTML }) => outerHTML.slice(0, 80))"""
"""Elements that stick out of a page of 375 pixels."""
TOO_SMALL = """all => all
  .filter((one) => one.getBoundingClientRect().height < 28)
  .map(({ textContent }) => textContent)"""
"""Controls too low for a finger."""
POOR_CONTRAST = """() => {
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const linear = (value) =>
    value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [red, green, blue] = parts(colour).map((value) => linear(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return (parts(colour)[3] ?? 1) > 0 ? colour : ground(one.parentElement);
  };
  const hasText = (one) =>
    [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const contrast = (one) => {
    const colours = [getComputedStyle(one).color, ground(one)];
    const [dark, bright] = colours.map(light).sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  return [...document.querySelectorAll(":is(header, main, footer) :not(svg *, .unseen)")]
    .filter((one) => one.checkVisibility() && hasText(one) && contrast(one) < 4.5)
    .map((one) => [contrast(one), one.textContent.trim().slice(0, 30)]);
}"""
"""Texts whose contrast with their background is under 4.5, by WCAG's formula."""
NAMELESS = """() => {
  const named = (one) => one.getAttribute("aria-label") || one.labels?.length
    || one.textContent.trim() || one.title;
  return [...document.querySelectorAll("button, select, input, canvas, [role=img]")]
    .filter((one) => one.checkVisibility() && !named(one))
    .map(({ outerHTML }) => outerHTML);
}"""
"""Controls that a screen reader has no name for."""


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
