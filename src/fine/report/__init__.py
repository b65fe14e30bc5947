"""The report, from the ledger alone: one self-contained HTML page, Markdown and LaTeX tables.

ledger = Ledger(Path("results/ledger"))
comparisons = [compare(make_experiment(name), ledger) for name in EXPERIMENTS]
page = html_page(comparisons)                       # the same ledger makes the same bytes
write_report(comparisons, Path("results/report.html"), Path("results/tables"))
"""

from collections.abc import Sequence
from pathlib import Path

from fine.experiments.benchmark_ledger import BenchmarkRecord
from fine.experiments.comparison import Comparison
from fine.experiments.leaderboard import Board
from fine.io.files import write_text
from fine.report.benchmarks import NAME as BENCHMARKS
from fine.report.benchmarks import benchmarks_markdown
from fine.report.latex import latex_table
from fine.report.leaderboard import PAGE, TEXT, leaderboard_markdown, leaderboard_page
from fine.report.markdown import markdown_table
from fine.report.page import html_page

__all__ = ["html_page", "latex_table", "markdown_table", "write_report"]


def write_report(
    comparisons: Sequence[Comparison],
    page: Path,
    tables: Path,
    boards: Sequence[Board] = (),
    benchmarks: Sequence[BenchmarkRecord] = (),
) -> list[Path]:
    """Write the page and, in the folder ``tables``, every table as Markdown and as LaTeX.

    With ``boards`` there is a leaderboard beside the page, and with ``benchmarks`` a section of
    them. Returns the paths of the files.
    """
    leaderboard = PAGE if boards else ""
    texts = {page: html_page(comparisons, leaderboard=leaderboard, benchmarks=benchmarks)}
    if boards:
        texts[page.with_name(PAGE)] = leaderboard_page(boards)
        texts[page.with_name(TEXT)] = leaderboard_markdown(boards)
    for comparison in comparisons:
        name = comparison.experiment.name
        texts[tables / f"{name}.md"] = markdown_table(comparison)
        texts[tables / f"{name}.tex"] = latex_table(comparison)
    if benchmarks:
        texts[tables / f"{BENCHMARKS}.md"] = benchmarks_markdown(benchmarks)
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)
