"""Makes the images of docs/demo.md and the README from the page itself, in chromium.

Run: python dev/make_demo_images.py
"""

import io
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, expect, sync_playwright

from fine.demo.app import make_app
from fine.demo.connections import CONNECTIONS
from fine.demo.serving import Server, address_of, listen

OUT = Path(__file__).parents[1] / "docs" / "img"
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# The page draws random numbers by Math.random; here they are the same every time.
SAME_NUMBERS = (
    "let last = %d; Math.random = () => (last = last * 48271 %% 2147483647) / 2147483647;"
)
GIF_WIDTH = 800

Point = tuple[float, float]
"""A place on a pad, in fractions of its width and height."""


@contextmanager
def served() -> Iterator[str]:
    """Serve the page; gives its address."""
    with listen("127.0.0.1", 0) as listening:
        server = Server(make_app(["universal"]), connections=CONNECTIONS)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()


def open_page(
    browser: Browser,
    address: str,
    *,
    width: int,
    height: int,
    scheme: str = "light",
    seed: int = 11,
) -> Page:
    """The page with its first answer on it."""
    viewport = {"width": width, "height": height}
    page = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()
    page.set_default_timeout(300_000)  # also on a busy machine
    page.add_init_script(SAME_NUMBERS % seed)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("#choices .picked")
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait until the last request is answered and nothing moves any more."""
    time.sleep(0.3)
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("#play[aria-busy=false]", state="attached")
    time.sleep(0.6)


def choose(page: Page, family: str, words: str) -> None:
    page.locator(f"#families input[value={family}]").check(force=True)
    expect(page.locator("#happened")).to_contain_text(words, timeout=300_000)
    settle(page)


def screenshot(page: Page, *, full: bool = False) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot(full_page=full))).convert("RGB")


def save(page: Page, name: str, *, full: bool = False) -> None:
    image = screenshot(page, full=full)
    small = image.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(OUT / name, optimize=True)


def play_quiz(page: Page, *keys: str) -> None:
    """Rounds of the quiz, with a key pressed in each."""
    page.get_by_role("tab", name="Quiz").click()
    page.wait_for_selector("#options button:enabled")
    for number, key in enumerate(keys):
        page.wait_for_selector("#options button:enabled")
        page.keyboard.press(key)
        page.wait_for_selector("#next:visible")
        if number < len(keys) - 1:
            page.keyboard.press("Enter")
            page.wait_for_selector("#next", state="hidden")
    settle(page)


def photograph(seed: int, size: tuple[int, int]) -> bytes:
    """Discs of many colours, as a file."""
    random = np.random.default_rng(seed)
    image = Image.new("RGB", size, "skyblue")
    for x, y, r in random.uniform((0, 0, 0.03), (1, 1, 0.15), (14, 3)) * max(size):
        colour = tuple(map(int, random.integers(256, size=3)))
        ImageDraw.Draw(image).ellipse((x - r, y - r / 2, x + r, y + r / 2), fill=colour)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def give_images(page: Page) -> None:
    """An example of a rotation, and two other images."""
    page.get_by_role("tab", name="Your images").click()
    before = photograph(0, (400, 300))
    rotated = io.BytesIO()
    image = Image.open(io.BytesIO(before))
    image.rotate(37.2, Image.Resampling.BICUBIC, fillcolor="white").save(rotated, "PNG")
    files = {
        "before": [("before.png", before)],
        "after": [("after.png", rotated.getvalue())],
        "others": [
            ("lake.png", photograph(1, (480, 360))),
            ("gate.png", photograph(2, (300, 400))),
        ],
    }
    for slot, contents in files.items():
        page.locator(f"#{slot}-input").set_input_files(
            [{"name": name, "mimeType": "image/png", "buffer": data} for name, data in contents]
        )
    expect(page.locator("#pairs .made")).to_have_count(2, timeout=300_000)
    page.wait_for_selector("#yours[aria-busy=false]")
    time.sleep(0.6)


class Film:
    """Frames of the page, and how long each is shown."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        image = screenshot(self.page)
        height = GIF_WIDTH * image.height // image.width
        self.frames.append(image.resize((GIF_WIDTH, height), Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def draw(self, pad: str, *strokes: list[Point]) -> None:
        """Draw on a pad, with a frame after each part of a stroke."""
        box = self.page.locator(f"#{pad}").bounding_box()
        assert box is not None
        for stroke in strokes:
            places = [
                (box["x"] + across * box["width"], box["y"] + down * box["height"])
                for across, down in stroke
            ]
            self.page.mouse.move(*places[0])
            self.page.mouse.down()
            for place in places[1:]:
                self.page.mouse.move(*place, steps=5)
                self.take(110)
            self.page.mouse.up()

    def save(self, name: str) -> None:
        """One palette for all frames, so that whatever stays the same takes no space."""
        middle = self.frames[len(self.frames) // 2]
        palette = middle.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        first, *rest = (
            frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames
        )
        first.save(
            OUT / name,
            save_all=True,
            append_images=rest,
            duration=self.times,
            loop=0,
            optimize=False,
        )


def film(page: Page) -> None:
    """An R is drawn and turned, a key is drawn and the model turns it; other rules; the quiz."""
    shot = Film(page)
    for pad in ("x", "new"):
        page.locator(f"#figure-{pad} button[title=Clear]").click()
    page.mouse.move(2, 2)
    settle(page)
    shot.take(900)
    stem = [(0.32, 0.8), (0.32, 0.5), (0.32, 0.22)]
    bowl = [(0.32, 0.22), (0.6, 0.22), (0.68, 0.35), (0.6, 0.48), (0.32, 0.5)]
    leg = [(0.45, 0.5), (0.7, 0.8)]
    shot.draw("x", stem, bowl, leg)
    settle(page)
    shot.take(700)
    left = [(0.5, 0.45), (0.34, 0.4), (0.34, 0.24), (0.5, 0.18)]
    right = [(0.64, 0.26), (0.64, 0.4), (0.5, 0.45)]
    shaft = [(0.5, 0.45), (0.5, 0.8), (0.66, 0.8)]
    tooth = [(0.5, 0.66), (0.62, 0.66)]
    shot.draw("new", left + right, shaft, tooth)
    page.mouse.move(2, 2)
    settle(page)
    shot.take(2400)
    for family, words in (
        ("reflection", "mirrored"),
        ("scale", "shrunk"),
        ("translation", "shifted"),
    ):
        choose(page, family, words)
        shot.take(1500)
    play_quiz(page)
    page.mouse.move(2, 2)
    shot.take(1500)
    play_quiz(page, "3")
    shot.take(2600)
    shot.save("demo.gif")


def main() -> None:
    """Light, dark, phone, quiz, and a film."""
    with served() as address, sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = open_page(browser, address, width=1200, height=880)
        save(page, "demo-light.png", full=True)
        page = open_page(browser, address, width=1200, height=880, scheme="dark", seed=5)
        page.locator("#map-one").click()
        page.wait_for_selector("#map-one[aria-pressed=true]")
        settle(page)
        save(page, "demo-dark.png", full=True)
        save(open_page(browser, address, width=375, height=812, seed=7), "demo-phone.png")
        page = open_page(browser, address, width=1200, height=800)
        play_quiz(page, "1", "3", "2", "4")
        save(page, "demo-quiz.png")
        for name, width, scheme in (
            ("demo-yours.png", 1200, "light"),
            ("demo-yours-phone.png", 375, "dark"),
        ):
            page = open_page(browser, address, width=width, height=812, scheme=scheme)
            give_images(page)
            save(page, name, full=True)
        film(open_page(browser, address, width=1200, height=1060))
        browser.close()
    for file in sorted(OUT.glob("demo*")):
        print(f"{file.name}: {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
