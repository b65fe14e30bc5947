"""The tour runs from its first cell to its last, every cell shows something, and what is kept of it is what it shows."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

sys.path.append(str(Path(__file__).parent.parent / "docs"))
from run_tour import TOUR, run


@pytest.fixture(scope="module")
def tour() -> nbformat.NotebookNode:
    return run()


def outputs(notebook: nbformat.NotebookNode) -> list[list[nbformat.NotebookNode]]:
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook: nbformat.NotebookNode) -> str:
    return "".join(output.text for cell in outputs(notebook) for output in cell if output.output_type == "stream")


def test_every_cell_runs_and_shows_something(tour):
    assert all(outputs(tour))
    kinds = {output.get("name", output.output_type) for cell in outputs(tour) for output in cell}
    assert kinds == {"stdout", "display_data"}  # no error, and no warning on stderr


def test_a_model_of_one_s_own_learns_something(tour):
    share = re.search(r"([\d.]+)% right on characters never seen", texts(tour))
    assert share and float(share[1]) > 60  # ignoring the rule gives 50


def test_the_outputs_that_are_kept_are_of_this_program(tour):
    """Numbers may differ by machine; what is shown, and in which order, may not."""
    kept = nbformat.read(TOUR, as_version=4)
    shapes = [[[output.output_type for output in cell] for cell in outputs(notebook)] for notebook in (kept, tour)]
    assert shapes[0] == shapes[1]
    assert re.sub(r"[\d.]+", "", texts(kept)).split("\n")[0] == re.sub(r"[\d.]+", "", texts(tour)).split("\n")[0]


def test_links_of_the_tour_lead_somewhere():
    kept = nbformat.read(TOUR, as_version=4)
    targets = [target for cell in kept.cells for target in re.findall(r"\]\(([^)]+)\)", cell.source)]
    assert targets and all((TOUR.parent / target).exists() for target in targets)
