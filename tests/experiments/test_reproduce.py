"""`fine reproduce` runs what is asked, refuses what cannot be run, and resumes after a budget."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from fine.experiments import Cell, Ledger, Record
from fine.io.files import read_json
from fine.io.locks import locked
from fine.training import Run
from support.reproduce import OURS, SOME, TINY, start_workers_warm, swap_and_rotation

pytestmark = pytest.mark.usefixtures("workplace")


@pytest.fixture
def reproduce(fine):
    """Run `fine reproduce …` in this process: the exit code, and all that was said."""

    def call(*arguments: object) -> tuple[int, str]:
        code, out, err = fine("reproduce", *arguments)
        return code, out + err

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tabel1",), "did you mean 'table1'?"),
        (("table1", "--protocol", "fast"), "unknown protocol 'fast'"),
        (("table1", "--budget", "later"), "write it as 2h"),
        (("table1", "--models", "esbm"), "did you mean 'esbn'?"),
        (("all", "--models", "esbn,gpt"), "unknown model"),
        (("table1", "--columns", "turn"), "unknown column of table1 'turn'"),
        (("table1", "--seeds", "0"), "seeds is 0"),
        (("table1", "--jobs", "-1"), "jobs is -1"),
        (("table1", "--cluster", "slurn"), "did you mean 'slurm'?"),
        (("table1", "--epochs", "0"), "epochs is 0"),
        (("table1", "--images", "paintings"), "unknown task 'paintings'"),
        (("table1", "--data-root", "nowhere"), "run `fine data download omniglot`"),
        (("table4", "--images", "folder:nowhere"), "nowhere"),
        (("scaling", "--train-count", "5"), "leave out --train-count"),
        (
            ("table1", "--augment-puzzles", "8", "--images", "glyphs", "--device", "abacus"),
            "device 'abacus' cannot be used",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(reproduce, arguments, words):
    before = sorted(Path().rglob("*"))
    code, said = reproduce(*arguments)
    assert code == 2 and words in said and said.count("\n") == 1
    assert sorted(Path().rglob("*")) == before


def test_rows_whose_names_have_commas_can_be_chosen(reproduce):
    rows = "fine-nice, new puzzles,fine-mlp, the same puzzles"
    code, said = reproduce("readings", "--rows", rows, "--images", "glyphs", "--dry-run")
    assert code == 0 and f"{2 * 5} cells" in said  # five columns of rules


def test_experiments_are_listed(reproduce):
    code, said = reproduce()
    names = ("table1", "table4", "figure-memories", "scaling")
    assert code == 0 and all(name in said for name in names)
    assert reproduce("--list")[1] == said


def test_a_dry_run_says_how_long_it_would_take_and_does_nothing(reproduce):
    selection = ("--jobs", "2", "--seeds", "3", "--models", "fine,esbn")
    code, said = reproduce("table1", "--dry-run", *selection)
    assert code == 0
    for words in ("60 cells, 0 of them done", "guessed: 500 puzzles/s", "2 at once"):
        assert words in " ".join(said.split())
    assert not Path("results").exists() and not Path("runs").exists()


def test_two_at_a_time_in_one_folder_are_refused(reproduce):
    with locked(Path("runs/reproduce")):
        code, said = reproduce("table1", "--images", "folder:images", *TINY)
    assert code == 2 and f"process {os.getpid()} is working in runs/reproduce" in said


@pytest.fixture
def _warm_workers(warm_python, monkeypatch):
    start_workers_warm(warm_python, monkeypatch)


@pytest.mark.slow
@pytest.mark.usefixtures("_warm_workers")
def test_a_table_is_run_with_one_cell_failing_and_mended(reproduce):
    swap, rotation = swap_and_rotation()
    Run(Path("runs/reproduce") / swap.key).save_config(rotation.config)  # in its way
    code, said = reproduce(*SOME, *TINY)
    ledger = Ledger(Path("results/ledger"))
    assert code == 1 and "1 cells failed" in said, said
    assert [entry.key for entry in ledger.records()] == [rotation.key]
    assert [entry.key for entry in ledger.failures()] == [swap.key]
    assert "holds another run" in ledger.failures()[0].error
    (page,) = Path("results").glob("table1-*.md")
    assert "failed" in page.read_text() and "1 of 90 places" in page.read_text()

    (Path("runs/reproduce") / swap.key / "config.json").unlink()
    written = ledger.path(rotation.key).stat().st_mtime_ns
    code, said = reproduce(*SOME, *TINY)
    keys = sorted((rotation.key, swap.key))
    assert code == 0 and [entry.key for entry in ledger.records()] == keys, said
    assert ledger.path(rotation.key).stat().st_mtime_ns == written
    assert "2 of 90 places" in page.read_text()
    found = ledger.read(swap.key)
    result = read_json(Path("runs/reproduce") / swap.key / "result.json")
    assert isinstance(found, Record) and found.value == result["accuracy"]
    assert len(found.curve) == 1
    assert found.commit == result["commit"] and found.machine.endswith("1 thread")


@pytest.mark.slow
@pytest.mark.usefixtures("_warm_workers")
def test_the_budget_stops_a_command_and_the_next_resumes(reproduce):
    # So many epochs that the budget ends among them, and so short ones that several have passed.
    swap, _ = swap_and_rotation()
    swap = Cell(replace(swap.config, training=replace(swap.config.training, epochs=3000)))
    epochs = ("--epochs", "3000", "--batch", "8", "--jobs", "1")
    options = (*OURS, "--columns", "swap", *TINY[:4], *epochs)
    folder = Path("runs/reproduce") / swap.key
    code, said = reproduce(*options, "--budget", "2s")
    while not Run(folder).checkpoint.exists():  # on a slow machine that may not be enough
        code, said = reproduce(*options, "--budget", "10s")
    assert code == 0 and "1 cells are left" in said and "0 of 90 places" in said
    assert not Ledger(Path("results/ledger")).entries()
    before = (folder / "metrics.csv").read_text().splitlines()
    assert 1 < len(before) <= 3000
    after = before
    while len(after) <= len(before):
        reproduce(*options, "--budget", "2s")
        after = (folder / "metrics.csv").read_text().splitlines()
    assert after[: len(before)] == before, "it resumed, and did not start again"
