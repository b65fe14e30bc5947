"""What a newcomer and a citing paper rely on: the site has every page, the citation is this one."""

import re
from pathlib import Path

import pytest
import yaml

import fine
import fine.experiments

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_every_page_of_the_docs_is_in_the_navigation_of_the_site():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    listed = [path for path in re.findall(r"[\w./-]+\.md", nav) if not path.startswith("project/")]
    assert sorted(listed) == sorted(pages | {"tour.md"})  # which is made of tour.ipynb


@pytest.mark.parametrize("module", [fine, fine.experiments], ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module):
    pages = [path.read_text(encoding="utf-8") for path in ROOT.glob("docs/reference/*.md")]
    named = re.findall(rf"^::: {module.__name__}\.(\w+)$", "\n".join(pages), re.MULTILINE)
    assert sorted(named) == sorted(module.__all__)


def test_the_citation_is_of_this_version():
    assert str(CITATION["version"]) == fine.__version__


def test_readme_and_citation_file_name_the_same_paper():
    paper = CITATION["preferred-citation"]
    entry = re.search(r"@inproceedings\{.*?^\}", README, re.DOTALL | re.MULTILINE)[0]
    fields = dict(re.findall(r"(\w+) += \{(.*?)\}[,\n]", entry, re.DOTALL))
    authors = [f"{who['family-names']}, {who['given-names']}" for who in paper["authors"]]
    assert fields["author"].split(" and ") == authors
    assert " ".join(fields["title"].split()) == paper["title"]
    assert (fields["booktitle"], fields["volume"]) == (
        paper["collection-title"],
        str(paper["volume"]),
    )
    assert fields["year"] == str(paper["year"])
