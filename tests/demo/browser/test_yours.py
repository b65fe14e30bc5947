"""Your images: files are given, the rule is told, answers are downloaded; also on a phone."""

import io
import zipfile

import pytest
from PIL import Image
from playwright.sync_api import expect

from support.browser import BEYOND_THE_EDGE, NAMELESS, POOR_CONTRAST, TOO_SMALL
from support.photos import file_of, rotated, scene, url_of

pytestmark = pytest.mark.browser

BEFORE = scene(0, (240, 180))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photographs")
    BEFORE.save(folder / "before.png")
    rotated(BEFORE, 37.2).save(folder / "after.png")
    scene(1, (300, 400)).save(folder / "upright.jpg", quality=85)
    scene(2, (500, 200)).save(folder / "wide.png")
    scene(3, (90, 90)).save(folder / "a name that is as long as names of photographs are.webp")
    (folder / "text.png").write_text("no image")
    return folder


def give_example(page, files) -> None:
    page.locator("#before-input").set_input_files(files / "before.png")
    page.locator("#after-input").set_input_files(files / "after.png")
    expect(page.locator("#found-rule")).to_contain_text("rotation 37.2")


def downloaded(page, selector: str) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        page.locator(selector).first.click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


def test_the_same_is_done_to_other_images(open_page, files):
    page = open_page("/#yours")
    give_example(page, files)
    expect(page.locator("#found-rule")).to_contain_text("±")
    expect(page.locator("#found-doubt")).to_be_hidden()
    page.locator("#others-input").set_input_files(
        [files / "upright.jpg", files / "wide.png", files / "text.png"]
    )
    expect(page.locator("#pairs .made")).to_have_count(2)
    expect(page.locator("#pairs .doubt")).to_contain_text("not an image that can be read")
    name, content = downloaded(page, "#pairs .download")
    image = Image.open(io.BytesIO(content))
    assert (name, image.format, image.size) == ("upright-changed.jpg", "JPEG", (300, 400))
    name, content = downloaded(page, "#download-all")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert name == "same-change.zip" and archive.testzip() is None
        assert archive.namelist() == ["upright-changed.jpg", "wide-changed.png"]
        assert Image.open(archive.open("wide-changed.png")).size == (500, 200)
    assert page.evaluate(NAMELESS) == [] and page.evaluate(POOR_CONTRAST) == []
    page.locator("#yours-clear").click()
    expect(page.locator("#found")).to_be_hidden()
    expect(page.locator("#pairs li")).to_have_count(0)


GIVE = """([how, urls]) => {
  const data = new DataTransfer();
  for (const [number, url] of urls.entries()) {
    const bytes = Uint8Array.from(atob(url.split(",")[1]), (letter) => letter.charCodeAt(0));
    data.items.add(new File([bytes], `${number}.png`, { type: "image/png" }));
  }
  const options = { bubbles: true, cancelable: true };
  const event = how === "paste"
    ? new ClipboardEvent("paste", { ...options, clipboardData: data })
    : new DragEvent("drop", { ...options, dataTransfer: data });
  document.querySelector("#before-input").dispatchEvent(event);
}"""


@pytest.mark.parametrize("how", ["paste", "drop"])
def test_images_are_pasted_and_dropped(open_page, how):
    page = open_page("/#yours")
    mirrored = BEFORE.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    page.evaluate(GIVE, [how, [url_of(file_of(one)) for one in (BEFORE, mirrored, BEFORE)]])
    expect(page.locator("#found-rule")).to_have_text("mirrored left-right")
    expect(page.locator("#pairs .made")).to_have_count(1)


def test_a_pair_that_tells_nothing_is_doubted(open_page):
    page = open_page("/#yours")
    blank = url_of(file_of(Image.new("L", (64, 64))))
    page.evaluate(GIVE, ["paste", [blank, blank]])
    expect(page.locator("#found-doubt")).to_contain_text("nothing but one colour")


def test_it_works_by_keyboard(open_page, files):
    page = open_page()
    page.get_by_role("tab", name="Play").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#yours")).to_be_visible()
    give_example(page, files)
    page.locator("#others-input").set_input_files(files / "wide.png")
    expect(page.locator("#pairs .made")).to_have_count(1)
    reached = []
    page.locator("#tab-yours").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.title"))
    controls = [
        name for name in dict.fromkeys(reached) if name.endswith("input") or name == "Remove"
    ]
    assert controls == ["before-input", "after-input", "others-input", "Remove"]
    page.get_by_role("button", name="Remove wide.png").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#pairs li")).to_have_count(0)


def test_a_phone_shows_all_of_it_and_has_a_camera(open_page, files):
    page = open_page("/#yours", width=375, height=740, has_touch=True, is_mobile=True)
    assert page.locator("input[capture]:visible").count() == 3
    give_example(page, files)
    page.locator("input[capture][data-slot=others]").set_input_files(files / "upright.jpg")
    page.locator("#others-input").set_input_files(
        files / "a name that is as long as names of photographs are.webp"
    )
    expect(page.locator("#pairs .made")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.locator("main *:visible:not(svg *)").evaluate_all(BEYOND_THE_EDGE) == []
    assert page.locator("main button:visible:not(.link)").evaluate_all(TOO_SMALL) == []
    assert page.locator("kbd:visible").count() == 0 and "paste" not in page.inner_text("main")
