"""The first example of every page runs as it stands, and so does every other Python block not marked ``no-run``."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def path_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


BLOCK = re.compile(r"^```python(?P<mark>[^\n]*)\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(match["code"], id=f"{path_of(page)}-{number}")
    for page in PAGES
    for number, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")))
    if "no-run" not in match["mark"]
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs(code, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example should show something"


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_links_and_pictures_are_there(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem not in ("log",)], ids=path_of)
def test_every_page_opens_with_an_example_or_a_picture(page):
    assert re.search(r"```python|!\[", page.read_text(encoding="utf-8")[:2500])


def test_the_tree_in_the_readme_is_the_tree_on_disk():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = readme[readme.index("    src/fine/") :]
    named = set(re.findall(r"^ +([a-z0-9_]+\.py|[a-z]+/) ", tree, re.MULTILINE))
    package = ROOT / "src" / "fine"
    on_disk = {path.name for path in package.glob("*.py")} | {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert on_disk - {"__init__.py", "__main__.py"} <= named
