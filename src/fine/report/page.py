"""The page: every experiment as a table beside the paper's, with figures, in one file."""

from collections.abc import Sequence

from fine.experiments.benchmark_ledger import BenchmarkRecord
from fine.experiments.catalogue import EXPERIMENTS
from fine.experiments.comparison import Comparison
from fine.experiments.durations import show_minutes
from fine.experiments.experiment import label
from fine.experiments.paper import CONTRADICTIONS
from fine.experiments.paper_tables import OUR_ROWS
from fine.experiments.records import Record
from fine.report.benchmarks import NAME as BENCHMARKS
from fine.report.benchmarks import TITLE as BENCHMARKS_TITLE
from fine.report.benchmarks import benchmark_section
from fine.report.costs import cost_against_accuracy
from fine.report.curves import learning_curves
from fine.report.document import document
from fine.report.facts import Facts, capitalised, cost, how_to_read
from fine.report.findings import opening
from fine.report.function_map import function_map
from fine.report.glance import at_a_glance
from fine.report.markup import Content, Markup, block, element, lines
from fine.report.mistakes import mistakes_by_kind
from fine.report.numbers import number, tenths
from fine.report.reliability import reliability_diagrams
from fine.report.rule_maps import rule_maps
from fine.report.tables import Line, Number, column_groups, table_lines
from fine.report.trends import trend

TITLE = "FINE, beside the paper"
LEAD = (
    "Results of the models of Functional Indirection Neural Estimator (Pham et al., NeurIPS 2022), "
    "trained and tested again, next to the numbers of the paper. Every number is from the ledger "
    "of runs; places that have not been run are left open. The paper gives no ranges for fisheye, "
    "wave and black-white, so these may be other tasks than its own."
)


def html_page(
    comparisons: Sequence[Comparison],
    *,
    leaderboard: str = "",
    benchmarks: Sequence[BenchmarkRecord] = (),
) -> str:
    """The page of some experiments and benchmarks, and a link to a leaderboard if there is one.

    The same ledger makes the same bytes.
    """
    sections = [_section(each, first=each is comparisons[0]) for each in comparisons]
    if benchmarks:
        sections.append(benchmark_section(benchmarks))
    header = _header(comparisons, leaderboard, count=len(benchmarks))
    return document(TITLE, header, block("main", *sections), _contradictions())


def _header(comparisons: Sequence[Comparison], leaderboard: str, *, count: int) -> Markup:
    """The title, what the results say, and a line for every experiment with how much is there."""
    rows = []
    for comparison in comparisons:
        name, facts = comparison.experiment.name, Facts(comparison)
        share = element("rect", width=f"{100 * facts.filled / facts.places:.2f}%", height=4)
        link = element("a", element("code", name), element("span", _title(name)), href=f"#{name}")
        filled = number(facts.named["filled"], name, "filled")
        rows.append(
            element(
                "li",
                link,
                element("span", filled, " places", class_="filled"),
                element("svg", share, class_="bar", height=4, aria_hidden="true"),
            )
        )
    if count:
        title = element("span", BENCHMARKS_TITLE)
        link = element("a", element("code", BENCHMARKS), title, href=f"#{BENCHMARKS}")
        shown = element("span", number(str(count), BENCHMARKS, "count"), " concepts")
        rows.append(element("li", link, shown))
    contents = element("nav", element("h2", "Contents"), block("ol", *rows), aria_label="Contents")
    lead = element("p", LEAD, class_="lead")
    parts = [element("h1", TITLE), lead, opening(comparisons)]
    if leaderboard:
        link = element("a", "Leaderboard: every model in one list", href=leaderboard)
        parts.append(element("p", link))
    return element("header", lines(*parts, contents))


def _section(comparison: Comparison, *, first: bool) -> Markup:
    experiment = comparison.experiment
    name, title = experiment.name, _title(experiment.name)
    overview = None if experiment.probed else trend(comparison) or at_a_glance(comparison)
    parts = [
        element("h2", element("code", name), " ", title, id=f"{name}-title"),
        overview,
        _table(comparison),
        _made(comparison),
        *_figures(comparison, first=first),
        _runs(comparison),
    ]
    body = lines(*(part for part in parts if part is not None))
    return block("section", body, id=name, aria_labelledby=f"{name}-title")


def _figures(comparison: Comparison, *, first: bool) -> list[Markup | None]:
    """The figures of runs; of probes, those of what they measure."""
    if comparison.experiment.probed:
        return [function_map(comparison), reliability_diagrams(comparison)]
    return [
        learning_curves(comparison),
        mistakes_by_kind(comparison),
        cost_against_accuracy(comparison),
        *rule_maps(comparison, unfolded=first),
    ]


def _title(name: str) -> str:
    """What an experiment is, with a capital."""
    return capitalised(EXPERIMENTS[name][0])


def _table(comparison: Comparison) -> Markup:
    """Paper, here and difference."""
    experiment, groups = comparison.experiment, column_groups(comparison.experiment)
    grouped = any(heading for heading, _ in groups)
    span = {"colspan": 2, "rowspan": 2 if grouped else None}
    corner = element("th", experiment.row_title, scope="col", **span, class_="row")
    heads = [element("th", name, scope="col") for _, names in groups for name in names]
    top = element("tr", corner, *heads)
    if grouped:
        spans = [
            element("th", heading, scope="colgroup", colspan=len(names))
            for heading, names in groups
        ]
        top = lines(element("tr", corner, *spans, class_="groups"), element("tr", *heads))
    bodies = [_rows(group) for group in table_lines(comparison)]
    caption = element("caption", f"{experiment.name}: {experiment.title}")
    table = block("table", caption, element("thead", top), *bodies, class_="numbers")
    return lines(
        element("h3", "The numbers"),
        element("p", how_to_read(comparison), class_="reading"),
        _scroll(table, f"{experiment.name}, the table"),
    )


def _scroll(table: Markup, name: str) -> Markup:
    """A wide table in a box that scrolls, also by keyboard."""
    return element("div", table, class_="scroll", role="region", aria_label=name, tabindex="0")


def _rows(group: list[Line]) -> Markup:
    rows = []
    for place, line in enumerate(group):
        name = Markup()
        if place == 0:
            row = label(line.row)
            name = element("th", row, scope="rowgroup", rowspan=len(group), class_="row")
        field = element("th", line.field, scope="row")
        rows.append(element("tr", name, field, *map(_cell, line.numbers), class_=line.field))
    return element("tbody", lines(*rows), class_="ours" if group[0].row in OUR_ROWS else None)


def _cell(shown: Number) -> Markup:
    entry, key = shown.entry, shown.entry.place.cell.group
    if shown.missing:
        why = f"failed: {entry.failure.error}" if entry.failure else "not run"
        mark = element("span", shown.text, aria_label=why)
        return element("td", mark, class_="missing", title=why)
    if not shown.text:
        return element("td")
    text: Content = number(shown.text, key, shown.field)
    text = element("b", text) if shown.best else text
    title = _origin(shown) if shown.field == "here" else None
    if not shown.spread:
        return element("td", text, title=title)
    field = "spread" if shown.field == "here" else "paper spread"
    spread = element("small", " ± ", number(shown.spread, key, field))
    return element("td", text, spread, title=title)


def _origin(shown: Number) -> str:
    """How a number was made, for a reader who points at it."""
    records = shown.entry.records
    seeds = "1 seed" if len(records) == 1 else f"{len(records)} seeds"
    first, commits = records[0], ", ".join(sorted({record.commit for record in records}))
    spent = f"{show_minutes(cost(shown.entry))} min a run"
    trained = f"{first.protocol}, {first.epochs} epochs"
    return f"{seeds}, {trained}, {first.test_puzzles:,} test puzzles, {spent}, commit {commits}"


def _made(comparison: Comparison) -> Markup:
    """How the numbers of a table were made, and how to make those that are missing."""
    name, facts = comparison.experiment.name, Facts(comparison)
    items = [
        element("div", element("dt", fact), element("dd", number(text, name, fact)))
        for fact, text in facts.named.items()
    ]
    parts = [block("dl", *items, class_="made")]
    if facts.failures:
        failed = [
            element("li", f"{label(entry.place.row)}, {label(entry.place.column)}: {error}")
            for entry, error in facts.failures
        ]
        parts += [element("p", "Failed:"), element("ul", *failed, class_="failed")]
    if facts.filled < facts.places:
        command = element("code", f"fine reproduce {name}")
        parts.append(element("p", command, " runs the rest.", class_="rest"))
    return lines(*parts)


def _runs(comparison: Comparison) -> Markup | None:
    """Every result by itself, folded away."""
    experiment = comparison.experiment
    heads = (
        *(experiment.row_title, experiment.column_title, "seed", experiment.metric),
        *("95 % interval", "minutes", "epochs", "puzzles", "test puzzles", "protocol", "commit"),
    )
    rows = []
    for entry in comparison.entries:
        row = element("th", label(entry.place.row), scope="row")
        column = element("td", label(entry.place.column), class_="text")
        rows += [element("tr", row, column, *_run(record)) for record in entry.records]
    if not rows:
        return None
    head = element("tr", *(element("th", name, scope="col") for name in heads))
    table = block("table", element("thead", head), *rows, class_="runs")
    summary = element("summary", element("h3", "All runs, one by one"))
    return element("details", summary, _scroll(table, "All runs"), class_="all-runs")


def _run(record: Record) -> list[Markup]:
    low, high = (tenths(100 * bound) for bound in record.interval)
    fields = {
        "seed": str(record.seed),
        "value": tenths(100 * record.value),
        "interval": f"{low} – {high}",
        "minutes": show_minutes(record.minutes),
        "epochs": f"{record.epochs:,}",
        "puzzles": f"{record.train_puzzles:,}",
        "test puzzles": f"{record.test_puzzles:,}",
        "protocol": record.protocol,
        "commit": record.commit,
    }
    return [element("td", number(text, record.key, field)) for field, text in fields.items()]


def _contradictions() -> Markup:
    """Where the paper says two different things."""
    items = [element("li", text) for text in CONTRADICTIONS]
    heading = element("h2", "Where the paper contradicts itself")
    return element("footer", lines(heading, block("ul", *items)))
