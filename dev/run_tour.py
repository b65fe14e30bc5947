"""Runs docs/tour.ipynb and keeps its outputs. Run: python dev/run_tour.py"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

TOUR = Path(__file__).parent.parent / "docs" / "tour.ipynb"


def run(path: Path = TOUR) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, and without the times at which its cells ran."""
    tour = nbformat.read(path, as_version=4)
    NotebookClient(tour, timeout=600, kernel_name="python3").execute()
    for cell in tour.cells:
        cell.metadata.pop("execution", None)
    tour.metadata.language_info = {"name": "python"}
    return tour


if __name__ == "__main__":
    nbformat.write(run(), TOUR)
