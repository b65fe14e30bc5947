"""`fine solve`: files are read once, and every set of rules can be drawn from."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from fine.inference import reading
from support.commands import image_folder
from support.fuzzing import HOSTILE


@pytest.fixture
def files(workplace) -> list[Path]:
    """x, y, the new one, and two choices."""
    folder = image_folder(workplace / "mine")
    return sorted(folder.rglob("*.png"))[:5]


@pytest.mark.slow
def test_every_file_is_read_once_whatever_is_asked_about_it(fine, files, monkeypatch):
    opened: Counter[str] = Counter()
    read = reading._read

    def spy(source: object) -> object:
        if isinstance(source, Path):
            opened[source.name] += 1
        return read(source)

    monkeypatch.setattr(reading, "_read", spy)
    options = ("--explain", "--candidates", "rotation", "--out", "answer.png")
    assert fine("solve", *files, *options).code == 0
    assert sum(opened.values()) == len(files)


@pytest.mark.slow
def test_an_answer_can_be_drawn_from_rules_that_are_for_pretraining_only(fine, files):
    options = ("--candidates", "patchwork", "--out", "answer.png", "--json")
    code, out, err = fine("solve", *files, *options)
    assert code == 0 and not err and Path("answer.png").exists()
    drawn = json.loads(out)["drawn"]
    assert {rule["family"] for rule in drawn["rules"]} == {"patchwork"}
    assert "patchwork" in fine("solve", *files[:3], "--candidates", "patchwork").out


@pytest.fixture
def hostile_files(files) -> list[Path]:
    """A puzzle whose files have names that would do more in a terminal than to be seen."""
    names = [text.replace("/", "") + ".png" for text in HOSTILE]
    names += [os.fsdecode(b"not-utf-8-\xff.png"), "two\nanswer: B, lines.png"]
    paths = []
    for number, name in enumerate(names):
        path = Path(name)
        path.write_bytes(files[number % len(files)].read_bytes())
        paths.append(path)
    return paths


@pytest.mark.slow
def test_names_of_files_cannot_write_to_the_terminal(fine, hostile_files):
    code, out, err = fine("solve", *hostile_files)
    assert code == 0 and not err and "two answer: B, lines.png" in out
    assert all(line.isprintable() for line in out.split("\n"))
    assert out.count("\nanswer: ") == 1
    assert "[bold]x[].png" in out and "[link=https:example.org]x.png" in out


@pytest.mark.slow
def test_names_of_files_are_in_the_json_as_they_are(fine, hostile_files):
    for path in (hostile_files[2], *hostile_files[-2:]):
        code, out, err = fine("solve", *hostile_files[:3], path, path, "--json")
        assert code == 0 and not err
        assert json.loads(out)["answer"]["file"] == str(path)
        assert all(line.isprintable() for line in out.split("\n"))
