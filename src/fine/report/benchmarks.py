"""Tests that others wrote, as a section of the page and as Markdown: ours beside what is reported.

Every number of ours is from a record of the ledger; those of others are data with their source
(`fine.benchmarks.records`).
"""

from collections.abc import Sequence

from fine.benchmarks.records import OTHERS, RECORDS, find_record, reported_as
from fine.experiments.benchmark_ledger import BenchmarkRecord
from fine.experiments.text_tables import markdown_rows, markdown_text
from fine.report.markup import Markup, block, element
from fine.report.numbers import number, tenths, whole

NAME, TITLE = "benchmarks", "Tests that others wrote"
READING = (
    "Right answers in %, by network and pixels as fine solve gives them, with the 95 % interval; "
    "beside them the network alone, without rules checked on the pixels, and what a guess gets. "
)
UNKNOWN = "not known"
_NAMES = ("benchmark", "concept", "model")
_NUMBERS = ("n", "right", "interval", "network alone", "chance")


def benchmark_section(records: Sequence[BenchmarkRecord]) -> Markup:
    """The section of the page."""
    others = _others(records)
    texts = {*_NAMES, *others}
    heads = [
        element("th", name, scope="col", class_="text" if name in texts else None)
        for name in (*_NAMES, *_NUMBERS, *others, "commit")
    ]
    head = element("tr", *heads)
    rows = [_row(record, others) for record in records]
    table = block("table", element("thead", head), block("tbody", *rows), class_="runs")
    box = element("div", table, class_="scroll", role="region", aria_label=TITLE, tabindex="0")
    title = element("h2", element("code", NAME), " ", TITLE, id=f"{NAME}-title")
    reading = element("p", READING, *_sources(records), class_="reading")
    return block("section", title, reading, box, id=NAME, aria_labelledby=f"{NAME}-title")


def benchmarks_markdown(records: Sequence[BenchmarkRecord]) -> str:
    """The same as Markdown."""
    others = _others(records)
    rows = [
        [
            *map(markdown_text, _names(record)),
            *_numbers(record).values(),
            *_reported(record, others),
            markdown_text(record.commit),
        ]
        for record in records
    ]
    table = markdown_rows([*_NAMES, *_NUMBERS, *others, "commit"], rows, names=3)
    reading = READING + "".join(_sources(records))
    return "\n".join([f"# {TITLE}", "", *table, "", reading.strip()]) + "\n"


def _row(record: BenchmarkRecord, others: Sequence[str]) -> Markup:
    return element(
        "tr",
        *(element("th", name, scope="row", class_="text") for name in _names(record)),
        *(
            element("td", number(text, record.key, field))
            for field, text in _numbers(record).items()
        ),
        *(element("td", text, class_="text") for text in _reported(record, others)),
        element("td", number(record.commit, record.key, "commit")),
    )


def _names(record: BenchmarkRecord) -> tuple[str, str, str]:
    same = record.data.lower() == record.benchmark.lower()
    benchmark = record.benchmark if same else f"{record.benchmark}, {record.data}"
    seed = record.run.get("training", {}).get("seed", 0)
    model = f"{record.model}, seed {seed}" if seed else record.model
    return benchmark, record.concept, model


def _numbers(record: BenchmarkRecord) -> dict[str, str]:
    low, high = (tenths(100 * bound) for bound in record.interval)
    texts = (
        f"{record.puzzles:,}",
        tenths(100 * record.accuracy),
        f"{low} – {high}",
        tenths(100 * record.accuracy_alone),
        tenths(100 * record.chance),
    )
    return dict(zip(_NUMBERS, texts, strict=True))


def _others(records: Sequence[BenchmarkRecord]) -> list[str]:
    """Models of which something is reported about a concept that is shown."""
    shown = {(_reported_as(record), record.concept) for record in records}
    models = [model for names in OTHERS.values() for model in names]
    known = {one.model for one in RECORDS if (one.benchmark, one.concept) in shown}
    return [model for model in models if model in known]


def _reported(record: BenchmarkRecord, others: Sequence[str]) -> list[str]:
    """What each of some models reached; empty where nobody has tested it."""
    texts = []
    for model in others:
        found = find_record(_reported_as(record), model, record.concept)
        tested = model in OTHERS.get(_reported_as(record), ())
        texts.append(UNKNOWN if tested else "")
        if found is not None:
            texts[-1] = f"{whole(100 * found.low)} – {whole(100 * found.high)}"
    return texts


def _sources(records: Sequence[BenchmarkRecord]) -> list[str]:
    shown = {_reported_as(record) for record in records}
    sources = dict.fromkeys(one.source for one in RECORDS if one.benchmark in shown)
    return [f"{source}. " for source in sources]


def _reported_as(record: BenchmarkRecord) -> str:
    return reported_as(record.benchmark, record.data)
