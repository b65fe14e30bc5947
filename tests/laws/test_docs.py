"""The docs keep their promises: examples run, links lead somewhere, commands have today's flags."""

import re
import shlex
from pathlib import Path

import pytest

from fine.cli.commands import read_command
from fine.models import model_config

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
OTHERS = [
    *(ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", ROOT / "CODE_OF_CONDUCT.md"),
    *(CONTRIBUTING, ROOT / "dev" / "log.md"),
]


def path_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# ---- examples ----

BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<code>.*?)^```\n", re.MULTILINE | re.DOTALL)


MOST = {"train_count": 64, "test_count": 24, "train_classes": 20, "test_classes": 20}
FEW = f"""
from fine.puzzles.task import Task as _Task
_make = _Task.__init__
def _make_small(self, *values, **named):
    _make(self, *values, **named)
    for count, most in {MOST}.items():
        object.__setattr__(self, count, min(most, getattr(self, count)))
_Task.__init__ = _make_small
"""
"""Before an example that trains for long: one step an epoch shows as well that it runs."""


def examples() -> list:
    """Every Python block not marked `no-run`; those marked `slow` train on few puzzles here."""
    found = []
    for page in [*PAGES, CONTRIBUTING]:
        for number, match in enumerate(BLOCK.finditer(text_of(page))):
            marks = match["info"].split()
            if marks[:1] != ["python"] or "no-run" in marks:
                continue
            code = FEW + match["code"] if "slow" in marks else match["code"]
            found.append(pytest.param(code, id=f"{path_of(page)}-{number}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("code", examples())
def test_an_example_runs(code, tmp_path, warm_python):
    done = warm_python.run("-c", code, cwd=tmp_path, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example should show something"


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_every_page_opens_with_an_example_or_an_image(page):
    assert re.search(r"```python|!\[", text_of(page)[:1500])


# ---- commands ----

PLACEHOLDERS = ("…", "COMMAND", "NAME")
"""What stands for something else; a command with one of them cannot be read."""
PARTS = (
    "solve",
    "evaluate",
    "export",
    "calibrate",
    "learn --from",
    "puzzles --start",
    "solve --text",
)
"""What the docs name without its arguments."""


def commands() -> list:
    """Every `fine …` in the docs: indented, or between backquotes."""
    found = {}
    for page in [*PAGES, CONTRIBUTING, ROOT / "SECURITY.md"]:
        text = BLOCK.sub("", text_of(page)).replace("\\\n", "")  # lines that go on
        indented = re.findall(r"^    (fine [^#\n]*)", text, re.MULTILINE)
        for command in [*indented, *re.findall(r"`(fine [a-z][^`]*)`", text)]:
            words = shlex.split(command)
            incomplete = command.removeprefix("fine ").strip() in PARTS
            if not incomplete and not set(words) & set(PLACEHOLDERS):
                found.setdefault(" ".join(words), pytest.param(words[1:], id=" ".join(words)))
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("words", commands())
def test_a_command_has_flags_that_exist(words):
    read_command(words)


@pytest.mark.parametrize("words", [p for p in commands() if "--set" in p.values[0]])
def test_a_setting_exists(words):
    model = words[words.index("--model") + 1] if "--model" in words else "fine"
    settings = [word.split("=") for word in words[words.index("--set") + 1 :] if "=" in word]
    model_config(model, dict(settings))


REPRODUCED = [param for param in commands() if param.values[0][0] == "reproduce"]


@pytest.mark.parametrize("words", REPRODUCED)
def test_what_is_reproduced_has_these_rows_and_columns(words, fine, tmp_path):
    done = fine(*words, "--dry-run", "--results", tmp_path)
    assert done.code == 0, done.err


# ---- links ----

LINK = re.compile(r"\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=path_of)
def test_links_lead_somewhere(page):
    for link in LINK.finditer(text_of(page)):
        if link["target"].startswith("https://"):
            continue
        target = page.parent / link["target"] if link["target"] else page
        assert target.exists(), link["target"]
        if link["anchor"]:
            assert link["anchor"] in anchors_of(target), f"{link['target']}#{link['anchor']}"


@pytest.mark.parametrize("page", [*PAGES, CONTRIBUTING], ids=path_of)
def test_files_that_are_named_exist(page):
    """Tests, benchmarks and scripts, wherever they are in their folders."""
    for name in re.findall(r"`((?:test_|conftest)\w*\.py)`", text_of(page)):
        assert list((ROOT / "tests").glob(f"**/{name}")), name
    for path in re.findall(r"\bpython ((?:benchmarks|dev)/\w+\.py)", text_of(page)):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"`((?:[a-z]+/)+[a-z0-9_]+\.py)`", text_of(page)):
        assert (ROOT / path).exists() or (ROOT / "src" / "fine" / path).exists(), path


def test_the_tree_in_the_readme_is_the_tree_on_disk():
    readme = text_of(ROOT / "README.md")
    tree = readme[readme.index("    src/fine/\n") :].partition("    tests/")[0]
    named = re.findall(r"^      ([a-z0-9_]+(?:\.py|/)) ", tree, re.MULTILINE)
    package = ROOT / "src" / "fine"
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py", "__main__.py"}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert sorted(named) == sorted(modules | folders)


# ---- words ----

RETIRED = (
    r"pictures?",  # images
    r"codes?",  # embeddings
    r"turned (?:images|pictures)",  # augment_images
    r"readings",  # directions, auxiliary queries
    r"learnt",  # learned
    r"misfits?",  # residuals
    r"arrivals?",  # continual learning strategies
    r"comes? along",  # bundled
)
ALLOWED = (
    "exit code",
    "code of conduct",
    "source code",
    "run code",
    "code from data",
    "they are code",
)
"""Where a retired word is no technical term."""


def prose_of(page: Path) -> str:
    """A page without its code, in lower case."""
    text = BLOCK.sub("", text_of(page))
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "", text)
    text = " ".join(text.lower().split())
    for phrase in ALLOWED:
        text = text.replace(phrase, "")
    return text


@pytest.mark.parametrize("page", [*PAGES, CONTRIBUTING, ROOT / "SECURITY.md"], ids=path_of)
def test_retired_words_are_not_used(page):
    found = re.findall(rf"\b(?:{'|'.join(RETIRED)})\b", prose_of(page))
    assert not found, found


@pytest.mark.parametrize("page", [*PAGES, *OTHERS[:-1]], ids=path_of)
def test_lines_are_short(page):
    """At most 100 columns, but for tables, images and long commands, which cannot be wrapped."""
    for line in text_of(page).splitlines():
        if not line.startswith(("|", "![", "    ")):
            assert len(line) <= 100, line
