"""The page: every experiment as a table beside the paper's, with its figures; one file that needs nothing else."""

from collections.abc import Sequence
from importlib.resources import files

from fine.experiments.catalogue import EXPERIMENTS
from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.experiments.ledger import Record
from fine.experiments.paper import CONTRADICTIONS
from fine.report.chart import function_chart
from fine.report.costs import cost_against_accuracy
from fine.report.curves import learning_curves
from fine.report.facts import Facts, cost, reading
from fine.report.glance import at_a_glance
from fine.report.maps import rule_maps
from fine.report.markup import Content, Markup, block, element, join, lines
from fine.report.numbers import minutes, number, tenths
from fine.report.reliability import reliability_diagrams
from fine.report.splits import error_splits
from fine.report.tables import Line, Number, column_groups, table_lines
from fine.report.trends import trend

TITLE = "FINE, beside the paper"
LEAD = (
    "What the models of Functional Indirection Neural Estimator (Pham et al., NeurIPS 2022) reach when they are trained and "
    "tested again, next to the numbers the paper gives. Every number is from the ledger of runs; what has not been run is "
    "left open."
)


def html_page(comparisons: Sequence[Comparison]) -> str:
    """The page of some experiments. The same ledger makes the same bytes."""
    style = files("fine.report").joinpath("style.css").read_text(encoding="utf-8")
    head = lines(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", TITLE),
        element("style", Markup(f"\n{style}")),
    )
    body = lines(
        _header(comparisons),
        block("main", *(_section(each, first=each is comparisons[0]) for each in comparisons)),
        _notes(),
    )
    return f"<!doctype html>\n{block('html', element('head', head), element('body', body), lang='en')}\n"


def _header(comparisons: Sequence[Comparison]) -> Markup:
    """The title, and a line for every experiment with how much of it is there."""
    rows = []
    for comparison in comparisons:
        name, facts = comparison.experiment.name, Facts(comparison)
        share = 100 * facts.filled / facts.places
        bar = element("svg", element("rect", width=f"{share:.2f}%", height=4), class_="bar", height=4, aria_hidden="true")
        rows.append(
            element(
                "li",
                element("a", element("code", name), element("span", _title(name)), href=f"#{name}"),
                element("span", number(facts.named["filled"], name, "filled"), " places", class_="filled"),
                bar,
            )
        )
    contents = element("nav", block("ol", *rows), aria_label="Experiments")
    return element("header", lines(element("h1", TITLE), element("p", LEAD, class_="lead"), contents))


def _section(comparison: Comparison, *, first: bool) -> Markup:
    experiment = comparison.experiment
    heading = element("h2", element("code", experiment.name), " ", _title(experiment.name), id=f"{experiment.name}-title")
    parts = [
        heading,
        None if experiment.probed else trend(comparison) or at_a_glance(comparison),
        _table(comparison),
        _made(comparison),
        *_figures(comparison, first=first),
        _runs(comparison),
    ]
    body = lines(*(part for part in parts if part is not None))
    return block("section", body, id=experiment.name, aria_labelledby=f"{experiment.name}-title")


def _figures(comparison: Comparison, *, first: bool) -> list[Markup | None]:
    """What there is to see of the runs; of what is measured besides, that itself."""
    if comparison.experiment.probed:
        return [function_chart(comparison), reliability_diagrams(comparison)]
    figures = [learning_curves(comparison), error_splits(comparison), cost_against_accuracy(comparison)]
    return [*figures, *rule_maps(comparison, unfolded=first)]


def _title(name: str) -> str:
    """What an experiment is, with a capital."""
    title = EXPERIMENTS[name][0]
    return title[:1].upper() + title[1:]


def _table(comparison: Comparison) -> Markup:
    """Paper, here and difference."""
    experiment, groups = comparison.experiment, column_groups(comparison.experiment)
    grouped = any(heading for heading, _ in groups)
    corner = element("th", experiment.row_title, scope="col", colspan=2, rowspan=2 if grouped else None, class_="row")
    heads = [element("th", name, scope="col") for _, names in groups for name in names]
    if grouped:
        spans = [element("th", heading, scope="colgroup", colspan=len(names)) for heading, names in groups]
        top = lines(element("tr", corner, *spans, class_="groups"), element("tr", *heads))
    else:
        top = element("tr", corner, *heads)
    bodies = [_rows(group) for group in table_lines(comparison)]
    caption = element("caption", f"{experiment.name}: {experiment.title}")
    table = block("table", caption, element("thead", top), *bodies, class_="numbers")
    scroll = element("div", table, class_="scroll", role="region", aria_label=f"{experiment.name}, the table", tabindex="0")
    return lines(element("h3", "The numbers"), element("p", " ".join(reading(comparison)), class_="reading"), scroll)


def _rows(group: list[Line]) -> Markup:
    rows = []
    for place, line in enumerate(group):
        name = element("th", label(line.row), scope="rowgroup", rowspan=len(group), class_="row") if place == 0 else Markup()
        field = element("th", line.field, scope="row")
        rows.append(element("tr", name, field, *map(_cell, line.numbers), class_=line.field))
    return element("tbody", lines(*rows), class_="ours" if group[0].row == "fine" else None)


def _cell(shown: Number) -> Markup:
    entry, key = shown.entry, shown.entry.place.cell.group
    if shown.missing:
        why = f"failed: {entry.failure.error}" if entry.failure else "not run"
        return element("td", element("span", shown.text, aria_label=why), class_="missing", title=why)
    if not shown.text:
        return element("td")
    text: Content = number(shown.text, key, shown.field)
    text = element("b", text) if shown.best else text
    title = _told(shown) if shown.field == "here" else None
    if not shown.spread:
        return element("td", text, title=title)
    field = "spread" if shown.field == "here" else "paper spread"
    return element("td", text, element("small", " ± ", number(shown.spread, key, field)), title=title)


def _told(shown: Number) -> str:
    """What is behind a number, for the one who points at it."""
    records = shown.entry.records
    seeds = "1 seed" if len(records) == 1 else f"{len(records)} seeds"
    first, commits = records[0], ", ".join(sorted({record.commit for record in records}))
    spent = f"{minutes(cost(shown.entry))} min a run"
    return f"{seeds}, {first.protocol}, {first.epochs} epochs, {first.test_puzzles:,} test puzzles, {spent}, commit {commits}"


def _made(comparison: Comparison) -> Markup:
    """How the numbers of a table were made, and how to make those that are missing."""
    name, facts = comparison.experiment.name, Facts(comparison)
    items = [join([element("dt", fact), element("dd", number(text, name, fact))]) for fact, text in facts.named.items()]
    parts = [block("dl", *(element("div", item) for item in items), class_="made")]
    if facts.failures:
        failed = [
            element("li", f"{label(entry.place.row)}, {label(entry.place.column)}: {error}") for entry, error in facts.failures
        ]
        parts += [element("p", "Failed:"), element("ul", *failed, class_="failed")]
    if facts.filled < facts.places:
        parts.append(element("p", "The rest is run by ", element("code", f"fine reproduce {name}"), ".", class_="rest"))
    return lines(*parts)


def _runs(comparison: Comparison) -> Markup | None:
    """Every run by itself, folded away."""
    heads = (comparison.experiment.row_title, comparison.experiment.column_title)
    names = ("seed", "accuracy", "95 % interval", "minutes", "epochs", "puzzles", "test puzzles", "protocol", "commit")
    rows = [
        element(
            "tr",
            element("th", label(entry.place.row), scope="row"),
            element("td", label(entry.place.column), class_="text"),
            *_run(record),
        )
        for entry in comparison.entries
        for record in entry.records
    ]
    if not rows:
        return None
    head = element("tr", *(element("th", name, scope="col") for name in (*heads, *names)))
    table = block("table", element("thead", head), *rows, class_="runs")
    inside = element("div", table, class_="scroll", role="region", aria_label="All runs", tabindex="0")
    return element("details", element("summary", element("h3", "All runs, one by one")), inside, class_="all-runs")


def _run(record: Record) -> list[Markup]:
    low, high = (tenths(100 * bound) for bound in record.interval)
    fields = {
        "seed": str(record.seed),
        "accuracy": tenths(100 * record.accuracy),
        "interval": f"{low} – {high}",
        "minutes": minutes(record.minutes),
        "epochs": f"{record.epochs:,}",
        "puzzles": f"{record.train_puzzles:,}",
        "test puzzles": f"{record.test_puzzles:,}",
        "protocol": record.protocol,
        "commit": record.commit,
    }
    return [element("td", number(text, record.key, field)) for field, text in fields.items()]


def _notes() -> Markup:
    """What the paper says in two ways."""
    items = [element("li", text) for text in CONTRADICTIONS]
    heading = element("h2", "Where the paper contradicts itself")
    return element("footer", lines(heading, block("ul", *items)))
