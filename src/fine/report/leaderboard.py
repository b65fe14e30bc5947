"""The leaderboard as a page and as Markdown: every model, every table, from the ledger alone."""

from collections.abc import Mapping, Sequence

from fine.drawing.terminal import choice_name
from fine.experiments.comparison import MISSING
from fine.experiments.durations import show_minutes
from fine.experiments.experiment import label
from fine.experiments.leaderboard import Board, Line, line_name
from fine.experiments.paper_tables import OUR_ROWS
from fine.experiments.text_tables import markdown_rows, markdown_text, span
from fine.report.document import document
from fine.report.markup import Markup, block, element, lines
from fine.report.numbers import tenths

TITLE = "Leaderboard"
LEAD = (
    "Every model that was trained and tested on the tasks of a table, whoever ran it, from the "
    "ledger of runs. Accuracy on the test puzzles in %, the mean over seeds; lines are ordered by "
    "the mean over all columns, and those with a column that has not been run have no rank. "
    "Letters say how a line was trained, and stand below each title: compare lines of one letter."
)
COMMAND, ADDS = "fine submit RUN", " adds a run of yours."
PAGE, TEXT = "leaderboard.html", "leaderboard.md"
FACTS = ("mean", "seeds", "parameters", "minutes")
UNKNOWN = "–"
"""Stands where a number cannot be counted here."""


def leaderboard_page(boards: Sequence[Board]) -> str:
    """The page. The same ledger makes the same bytes."""
    back = element("a", "All tables and figures", href="report.html")
    lead = element("p", f"{LEAD} ", element("code", COMMAND), ADDS, class_="lead")
    header = element("header", lines(element("h1", TITLE), lead, element("p", back)))
    return document(TITLE, header, block("main", *map(_section, boards)))


_TEXTS = ("model", "training")
"""Columns that are words and no numbers."""


def _section(board: Board) -> Markup:
    title = element("h2", element("code", board.name), " ", board.title, id=f"{board.name}-title")
    heads = ("rank", "model", "training", *FACTS, *map(label, board.columns))
    cells = (
        element("th", name, scope="col", class_="text" if name in _TEXTS else None)
        for name in heads
    )
    head = element("tr", *cells)
    letters = _letters(board)
    legend = block(
        "ul",
        *(element("li", element("b", letter), " ", words) for words, letter in letters.items()),
        class_="trainings",
    )
    rows = [_row(rank, line, board, letters) for rank, line in _ranked(board)]
    table = block("table", element("thead", head), block("tbody", *rows), class_="runs")
    name = f"{board.name}, all models"
    box = element("div", table, class_="scroll", role="region", aria_label=name, tabindex="0")
    labelled = f"{board.name}-title"
    return block("section", title, legend, box, id=board.name, aria_labelledby=labelled)


def _letters(board: Board) -> dict[str, str]:
    """Ways of training, in words -> a letter for each, in the order of the lines."""
    words = dict.fromkeys(line.training for line in board.lines)
    return {training: choice_name(number) for number, training in enumerate(words)}


def _row(rank: str, line: Line, board: Board, letters: Mapping[str, str]) -> Markup:
    name = line_name(line) + (f", {line.settings}" if line.settings else "")
    cells = [
        element("td", rank),
        element("th", name, scope="row", class_="text"),
        element("td", letters[line.training], class_="text", title=line.training),
        *(element("td", fact) for fact in _facts(line)),
        *(element("td", number) for number in _numbers(line, board)),
    ]
    return element("tr", *cells, class_="ours" if line.model in OUR_ROWS else None)


def leaderboard_markdown(boards: Sequence[Board]) -> str:
    """The same as Markdown."""
    parts = [f"# {TITLE}", "", f"{LEAD} `{COMMAND}`{ADDS}"]
    for board in boards:
        head = ["rank", "model", "training", *FACTS, *map(label, board.columns)]
        letters = _letters(board)
        rows = [
            [rank, _name(line), letters[line.training], *_facts(line), *_numbers(line, board)]
            for rank, line in _ranked(board)
        ]
        parts += ["", f"## {board.name}: {markdown_text(board.title)}", ""]
        parts += [f"- {letter}: {markdown_text(words)}" for words, letter in letters.items()]
        parts += ["", *markdown_rows(head, rows, names=3)]
    return "\n".join(parts) + "\n"


def _name(line: Line) -> str:
    return markdown_text(line_name(line) + (f", {line.settings}" if line.settings else ""))


def _ranked(board: Board) -> list[tuple[str, Line]]:
    """Every line with its rank, which only complete ones have."""
    return [
        (str(place) if line.complete else "", line)
        for place, line in enumerate(board.lines, start=1)
    ]


def _facts(line: Line) -> list[str]:
    parameters = span(line.parameters) if line.parameters else UNKNOWN
    return [tenths(line.mean), span(line.seeds), parameters, show_minutes(line.minutes)]


def _numbers(line: Line, board: Board) -> list[str]:
    accuracy = line.accuracy
    return [tenths(accuracy[column]) if column in accuracy else MISSING for column in board.columns]
