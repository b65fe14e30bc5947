"""The tour runs from its first cell to its last, and its stored outputs are of this program."""

import re
import runpy
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
TOUR = ROOT / "docs" / "tour.ipynb"


@pytest.fixture(scope="module")
def tour() -> nbformat.NotebookNode:
    """The notebook with fresh outputs."""
    return runpy.run_path(str(ROOT / "dev" / "run_tour.py"))["run"](TOUR)


@pytest.fixture(scope="module")
def stored() -> nbformat.NotebookNode:
    return nbformat.read(TOUR, as_version=4)


def outputs(notebook: nbformat.NotebookNode) -> list[list[nbformat.NotebookNode]]:
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook: nbformat.NotebookNode) -> str:
    every = [output for cell in outputs(notebook) for output in cell]
    return "".join(output.text for output in every if output.output_type == "stream")


@pytest.mark.slow
def test_every_cell_runs_and_shows_something(tour):
    assert all(outputs(tour))
    kinds = {output.get("name", output.output_type) for cell in outputs(tour) for output in cell}
    assert kinds == {"stdout", "display_data"}  # no error, and no warning on stderr


@pytest.mark.slow
def test_a_model_of_your_own_learns_something(tour):
    share = re.search(r"([\d.]+)% right on characters never seen", texts(tour))
    assert share and float(share[1]) > 60  # ignoring the rule gives 50


@pytest.mark.slow
def test_the_stored_outputs_are_of_this_program(tour, stored):
    """Numbers may differ by machine; what is shown, and in which order, may not."""

    def kinds(notebook: nbformat.NotebookNode) -> list[list[str]]:
        return [[output.output_type for output in cell] for cell in outputs(notebook)]

    def first_line(notebook: nbformat.NotebookNode) -> str:
        return re.sub(r"[\d.]+", "", texts(notebook)).split("\n")[0]

    assert kinds(stored) == kinds(tour)
    assert first_line(stored) == first_line(tour)


def test_links_of_the_tour_lead_somewhere(stored):
    targets = [
        target for cell in stored.cells for target in re.findall(r"\]\(([^)]+)\)", cell.source)
    ]
    assert targets and all((TOUR.parent / target).exists() for target in targets)
