"""Draws the pictures of docs/demo.md and the README from the page itself. Run: python docs/make_demo_pictures.py"""

import io
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from fine.demo.app import make_app
from fine.demo.serving import address_of, listen

OUT = Path(__file__).parent / "img"
# The page draws lots by Math.random; here the lots are the same every time.
SAME_LOTS = "let lot = %d; Math.random = () => (lot = lot * 48271 %% 2147483647) / 2147483647;"
GIF_WIDTH = 800


@contextmanager
def served() -> Iterator[str]:
    """The address of the page, as long as it is needed."""
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(make_app(["all-glyphs"]), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield address_of(listening)
        server.should_exit = True
        thread.join()


def open_page(browser: Browser, address: str, *, width: int, height: int, scheme: str = "light", lot: int = 11) -> Page:
    """The page with its first answer on it."""
    page = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
    page.add_init_script(SAME_LOTS % lot)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("#choices .picked")
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait until the last question is answered and nothing moves any more."""
    time.sleep(0.3)
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("#play[aria-busy=false]", state="attached")
    time.sleep(0.6)


def choose(page: Page, family: str, words: str) -> None:
    page.locator(f"#families input[value={family}]").check(force=True)
    expect(page.locator("#happened")).to_contain_text(words, timeout=30_000)
    settle(page)


def save(page: Page, name: str, *, full: bool = False) -> None:
    picture = Image.open(io.BytesIO(page.screenshot(full_page=full))).convert("RGB")
    picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(OUT / name, optimize=True)


def play_quiz(page: Page, *keys: str) -> None:
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


class Film:
    """Frames of the page, and how long each is shown."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(picture.resize((GIF_WIDTH, GIF_WIDTH * picture.height // picture.width), Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def draw(self, pad: str, *strokes: list[tuple[float, float]]) -> None:
        box = self.page.locator(f"#{pad}").bounding_box()
        assert box is not None
        for stroke in strokes:
            places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke]
            self.page.mouse.move(*places[0])
            self.page.mouse.down()
            for place in places[1:]:
                self.page.mouse.move(*place, steps=5)
                self.take(110)
            self.page.mouse.up()

    def save(self, name: str) -> None:
        """One palette for all frames, so that what does not change takes no room."""
        palette = self.frames[len(self.frames) // 2].quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        first, *rest = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames)
        first.save(OUT / name, save_all=True, append_images=rest, duration=self.times, loop=0, optimize=False)


def film(page: Page) -> None:
    """An R is drawn and turned; then a key is drawn, and the model turns it as well; then other rules, and a round of quiz."""
    shot = Film(page)
    for pad in ("x", "new"):
        page.locator(f"#figure-{pad} button[title=Clear]").click()
    page.mouse.move(2, 2)
    settle(page)
    shot.take(900)
    bowl = [(0.32, 0.22), (0.6, 0.22), (0.68, 0.35), (0.6, 0.48), (0.32, 0.5)]
    shot.draw("x", [(0.32, 0.8), (0.32, 0.5), (0.32, 0.22)], bowl, [(0.45, 0.5), (0.7, 0.8)])
    settle(page)
    shot.take(700)
    ring = [(0.5, 0.45), (0.34, 0.4), (0.34, 0.24), (0.5, 0.18), (0.64, 0.26), (0.64, 0.4), (0.5, 0.45)]
    shot.draw("new", ring, [(0.5, 0.45), (0.5, 0.8), (0.66, 0.8)], [(0.5, 0.66), (0.62, 0.66)])
    page.mouse.move(2, 2)
    settle(page)
    shot.take(2400)
    for family, words in (("reflection", "mirrored"), ("scale", "shrunk"), ("translation", "shifted")):
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
    chromium = shutil.which("chromium")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = open_page(browser, address, width=1200, height=880)
        save(page, "demo-light.png", full=True)
        page = open_page(browser, address, width=1200, height=880, scheme="dark", lot=5)
        page.locator("#map-kin").click()
        page.wait_for_selector("#map-kin[aria-pressed=true]")
        settle(page)
        save(page, "demo-dark.png", full=True)
        save(open_page(browser, address, width=375, height=812, lot=7), "demo-phone.png")
        page = open_page(browser, address, width=1200, height=800)
        play_quiz(page, "1", "3", "2", "4")
        save(page, "demo-quiz.png")
        film(open_page(browser, address, width=1200, height=1060))
        browser.close()
    for file in sorted(OUT.glob("demo*")):
        print(f"{file.name}: {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
