"""What the site needs beyond docs/, as hooks of mkdocs (mkdocs.yml names this file).

Pages link to files outside docs/, as they should on a page of a repository: the changelog, the
cards of models, source files. Here each of these becomes a page of the site, and links to it lead
there. The tour, a notebook, becomes a page too.
"""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
DOCS = "docs/"
OUTSIDE = "project/"
"""Folder of the site for what is not in docs/."""
ALWAYS = ("README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", "SECURITY.md")
"""Pages of the site, whether or not something links to them."""

LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?(?=\))")
MARKED = re.compile(r"^```python (?:slow|no-run)$", re.MULTILINE)
"""Marks for tests/laws/test_docs.py, which Markdown does not know."""
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files that others link to, and those that these link to."""
    waiting = list(ALWAYS)
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            files.remove(file)
            waiting.append(DOCS + file.src_uri)
        elif file.is_documentation_page():
            waiting += links_of(file.content_string, DOCS + file.src_uri)
    while waiting:
        path = waiting.pop()
        if files.get_file_from_path(place_of(path)) or not (ROOT / path).is_file():
            continue  # it is there already, or mkdocs will say that it is missing
        files.append(made_page(path, config))
        if path.endswith(".md"):
            waiting += links_of((ROOT / path).read_text(encoding="utf-8"), path)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The text of a page as mkdocs understands it."""
    path = path_of(page.file.src_uri)
    if not path.endswith((".md", ".ipynb")):
        return markdown  # a source file: what looks like a link there is none
    here = posixpath.dirname(page.file.src_uri)

    def relinked(link: re.Match[str]) -> str:
        target = place_of(resolved(link["target"], path))
        return posixpath.relpath(target, here or ".") + (link["anchor"] or "")

    return MARKED.sub("```python", LINK.sub(relinked, markdown))


def links_of(text: str, path: str) -> list[str]:
    """What a page links to, as paths in the repository."""
    return [resolved(link["target"], path) for link in LINK.finditer(text)]


def resolved(target: str, path: str) -> str:
    """A link of the file ``path``, as a path in the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def place_of(path: str) -> str:
    """Where a file of the repository is in the site."""
    if path.endswith(".py"):
        return f"{OUTSIDE}{path}.md"
    if path.startswith(DOCS):
        return re.sub(r"\.ipynb$", ".md", path.removeprefix(DOCS))
    return OUTSIDE + path


def path_of(place: str) -> str:
    """The file of the repository that a page of the site is made from."""
    if not place.startswith(OUTSIDE):
        return DOCS + place
    return place.removeprefix(OUTSIDE).removesuffix(".md" if place.endswith(".py.md") else "")


def made_page(path: str, config: MkDocsConfig) -> File:
    """A file of the repository as a page of the site, or as it is."""
    place, file = place_of(path), ROOT / path
    if path.endswith(".ipynb"):
        return File.generated(config, place, content=notebook_page(file))
    if path.endswith(".py"):
        return File.generated(config, place, content=source_page(path))
    return File.generated(config, place, abs_src_path=str(file))


def source_page(path: str) -> str:
    """A source file as a page."""
    code = (ROOT / path).read_text(encoding="utf-8")
    return f"{NOT_SEARCHED}# `{path}`\n\n```python\n{code}```\n"


def notebook_page(file: Path) -> str:
    """A notebook as a page: texts, code, and what it printed and drew."""
    parts = []
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            shown = output.get("data", {})
            printed = "".join(output.get("text", shown.get("text/plain", "")))
            if "image/png" in shown:
                image = "".join(shown["image/png"]).replace("\n", "")
                parts.append(f'<img alt="What this draws" src="data:image/png;base64,{image}">')
            elif printed:
                parts.append(f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"
