"""The benchmark `listed`: a text file with one puzzle in each line, the right choice with a star.

x.png y.png new.png a.png *b.png c.png
"""

from pathlib import Path

from fine.benchmarks import BenchmarkPuzzle


def read(path: Path) -> list[BenchmarkPuzzle]:
    """The puzzles of a file; paths in it are relative to its folder."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        _puzzle(f"{path.name}, line {number}", line.split(), path.parent)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _puzzle(name: str, words: list[str], folder: Path) -> BenchmarkPuzzle:
    stars = [word.startswith("*") for word in words[3:]]
    if sum(stars) != 1:
        raise ValueError(f"{name} has {sum(stars)} choices with a star: expected one")
    x, y, new, *choices = (folder / word.removeprefix("*") for word in words)
    return BenchmarkPuzzle(
        name=name,
        concept="",
        parameter="",
        x=(x,),
        y=(y,),
        new=new,
        choices=tuple(choices),
        answer=stars.index(True),
    )
