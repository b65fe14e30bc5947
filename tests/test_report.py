"""Promises of the report: every number on it is the ledger's, what is missing is missing, and it needs nothing else.

The expected texts are worked out here from the ledger's files alone, without the code that makes the page.
"""

import itertools
import json
import math
import random
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fine.evaluation import wilson
from fine.experiments import CONTRADICTIONS, EXPERIMENTS, Cell, Comparison, Ledger, compare, make_experiment
from fine.experiments.experiment import label
from fine.experiments.ledger import Epoch, failure, record
from fine.report import html_page, latex_table, markdown_table, write_report
from fine.report.costs import letter_places
from fine.report.looks import looks
from fine.report.markup import element
from fine.report.numbers import signed
from fine.report.panels import round_steps, spread_out
from fine.rules import rule_set
from fine.strings import string_rules

HOSTILE = "<script>alert('1')</script> | 100 % & $x_1$ \\ *so*"
KINDS = ("right", "wrong rule", "wrong object", "both wrong")
APART = {
    "rotation": [(15.0 * step,) for step in range(1, 13)],
    "translation": [(3.0 * a, 3.0 * b) for a in range(7) for b in range(7) if a or b],
    "shear": [(15.0 * a, 15.0 * b) for a in range(9) for b in range(9) if a or b],
}


def result(cell: Cell, draw: random.Random) -> dict[str, object]:
    """A result.json of a cell with numbers out of a hat."""
    task = cell.config.task
    rules = (string_rules if task.shows_strings else rule_set)(task.test_rules or task.rules)
    right = draw.randrange(task.test_count // 8, task.test_count)
    wrong = (task.test_count - right) / task.test_count
    shares = [wrong * part for part in (0.55, 0.3, 0.15)]
    names = {rule.family.name for rule in rules.rules} & set(APART)
    return {
        "accuracy": round(right / task.test_count, 5),
        "interval": [round(bound, 5) for bound in wilson(right, task.test_count)],
        "mistakes": {kind: round(share, 5) for kind, share in zip(KINDS[1:], shares, strict=True)},
        "by_rule": [
            {"family": rule.family.name, "rule": str(rule), "puzzles": 9, **dict.fromkeys(KINDS, round(draw.random(), 4))}
            for rule in rules.rules
        ],
        "confusions": [
            {"family": name, "apart": list(apart), "puzzles": 9, "wrong rule": round(draw.random(), 4)}
            for name in sorted(names)
            for apart in APART[name]
        ],
        "minutes": round(draw.uniform(0.4, 90), 3),
        "fine": "0.1.0",
        "torch": "2.13.0",
        "python": "3.11.7",
        "machine": f"a machine {HOSTILE}",
        "commit": draw.choice(["abc1234", "def5678", "<i>"]),
        **({} if cell.probe is None else {"puzzles": cell.probe.count, "details": points(cell, draw)}),
    }


def points(cell: Cell, draw: random.Random) -> list[dict[str, object]]:
    """What a map of functions holds, for the cell that has one."""
    if cell.probe.options != {"space": "map"}:
        return []
    rules = rule_set(cell.config.task.rules).rules
    names = {"layout": "umap"}
    return [
        {"family": rule.family.name, "rule": str(rule), "parameters": list(rule.parameters), **names}
        | {"across": round(draw.random(), 4), "down": round(draw.random(), 4)}
        for rule in rules
    ]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory) -> Ledger:
    """A ledger with about two thirds of all places filled, some with three seeds, and some failures."""
    made = Ledger(tmp_path_factory.mktemp("results") / "ledger")
    for name in EXPERIMENTS:
        for place in make_experiment(name).places:
            draw = random.Random(place.cell.key)
            if draw.random() < 0.3 and name != "figure-map":  # of which nothing might be left
                continue
            if draw.random() < 0.05:
                made.write(failure(place.cell, f"it broke {HOSTILE}"))
                continue
            for seed in range(draw.choice((1, 1, 3))):
                cell = place.cell.with_seed(seed)
                curve = tuple(Epoch(1.0, round(draw.random(), 5)) for _ in range(cell.config.training.epochs))
                made.write(record(cell, result(cell, draw), curve))
    return made


@pytest.fixture(scope="module")
def comparisons(ledger) -> list[Comparison]:
    return [compare(make_experiment(name), ledger) for name in EXPERIMENTS]


@pytest.fixture(scope="module")
def raw(ledger) -> dict[str, list[dict]]:
    """What the files of the ledger say, by key without the seed, in the order of seeds."""
    groups: dict[str, list[dict]] = {}
    for path in sorted(ledger.folder.glob("*.json"), key=lambda path: int(path.stem.rpartition("_seed")[2])):
        content = json.loads(path.read_text(encoding="utf-8"))
        if "error" not in content:
            groups.setdefault(path.stem.rpartition("_seed")[0], []).append(content)
    return groups


# --- a reader of pages ------------------------------------------------------------------------------------------------------


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Node | str"] = field(default_factory=list)
    parent: "Node | None" = None

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self, *tags: str) -> Iterator["Node"]:
        for child in self.children:
            if isinstance(child, Node):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def above(self) -> Iterator["Node"]:
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def first(self, tag: str) -> "Node":
        return next(self.all(tag))


class Reader(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.root = self.at = Node("root")
        self.feed(text)
        self.close()
        assert self.at is self.root, f"{self.at.tag} is not closed"

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag != "meta":
            self.at = self.at.children[-1]

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, {name: value or "" for name, value in attrs}, parent=self.at))

    def handle_endtag(self, tag):
        assert tag == self.at.tag, f"</{tag}> closes {self.at.tag}"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


@pytest.fixture(scope="module")
def page(comparisons) -> Node:
    return Reader(html_page(comparisons)).root


def section(page: Node, name: str) -> Node:
    return next(node for node in page.all("section") if node.attributes["id"] == name)


# --- what the ledger says, as text ------------------------------------------------------------------------------------------


def mean(values) -> float:
    return 100 * statistics.mean(values)


def expected_of_group(records: list[dict], paper) -> dict[str, str]:
    """The texts of a place of a table by field."""
    texts = {"quoted": str(paper)} if paper is not None else {}
    texts |= dict(zip(("paper", "paper spread"), str(paper).split(" ± "), strict=False)) if paper is not None else {}
    if not records:
        return texts
    accuracies = [content["accuracy"] for content in records]
    low, high = records[0]["interval"]
    here = f"{mean(accuracies):.1f}"
    texts |= {
        "here": here,
        "spread": f"{100 * statistics.stdev(accuracies) if len(records) > 1 else 50 * (high - low):.1f}",
        "curve": f"{mean(content['curve'][-1][1] for content in records):.1f}",
        "cost": here,
        "minutes": f"{statistics.mean(content['minutes'] for content in records):,.1f}",
        "wrong": f"{sum(mean(content['mistakes'][kind] for content in records) for kind in KINDS[1:]):.1f}",
        **{kind: f"{mean(content['mistakes'][kind] for content in records):.1f}" for kind in KINDS[1:]},
    }
    if paper is not None:
        text = f"{float(here) - paper.mean:+.1f}".replace("-", "−")
        texts["difference"] = "0.0" if text in ("+0.0", "−0.0") else text
    return texts


def every_run(raw) -> list[dict]:
    return [content for records in raw.values() for content in records]


def protocol(content: dict) -> str:
    """What the quick protocol is called for this task."""
    return "strings" if content["task"]["images"] == "strings" else "quick"


def expected_of_record(content: dict) -> dict[str, str]:
    low, high = content["interval"]
    return {
        "seed": str(content["training"]["seed"]),
        "accuracy": f"{100 * content['accuracy']:.1f}",
        "interval": f"{100 * low:.1f} – {100 * high:.1f}",
        "minutes": f"{content['minutes']:,.1f}",
        "epochs": f"{content['training']['epochs']:,}",
        "puzzles": f"{content['task']['train_count']:,}",
        "test puzzles": f"{content['task']['test_count']:,}",
        "protocol": protocol(content),
        "commit": content["commit"],
    }


def expected_of_experiment(comparison: Comparison, raw) -> dict[str, str]:
    places = comparison.experiment.places
    runs = [raw[place.cell.group] for place in places if place.cell.group in raw]
    every = [content for records in runs for content in records]

    def span(values) -> str:
        low, high = min(values), max(values)
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"

    return {
        "filled": f"{len(runs)} of {len(places)}",
        "protocol": f"{protocol(every[0])}, {span([content['training']['epochs'] for content in every])} epochs",
        "seeds": span(list(map(len, runs))),
        "training puzzles": span([content["task"]["train_count"] for content in every]),
        "test puzzles": span([content["task"]["test_count"] for content in every]),
        "minutes": f"{sum(content['minutes'] for content in every):,.1f}",
        "commit": ", ".join(sorted({content["commit"] for content in every})),
        "machine": f"a machine {HOSTILE}",
    }


def shares(records: list[dict], family: str, what: str) -> dict[tuple[float, ...], str]:
    """Whole % by parameters of a rule, or by distance."""
    found: dict[tuple[float, ...], list[float]] = {}
    for content in records:
        for row in content["by_rule" if what == "right" else "confusions"]:
            if row["family"] == family:
                numbers = re.findall(r"-?\d+", row["rule"]) if what == "right" else row["apart"]
                found.setdefault(tuple(map(float, numbers)), []).append(row["right" if what == "right" else "wrong rule"])
    return {at: f"{mean(values):.0f}" for at, values in found.items()}


# --- every number is the ledger's -------------------------------------------------------------------------------------------


def test_every_number_is_the_ledgers(page, comparisons, raw):
    seen: dict[str, int] = {}
    for comparison in comparisons:
        expected = {comparison.experiment.name: expected_of_experiment(comparison, raw)}
        for place in comparison.experiment.places:
            records = raw.get(place.cell.group, [])
            expected[place.cell.group] = expected_of_group(records, place.paper)
            expected |= {content["key"]: expected_of_record(content) for content in records}
        for node in section(page, comparison.experiment.name).all():
            name = node.attributes.get("data-field", "")
            if name.partition(" ")[0] in ("right", "apart"):
                continue  # maps have a test of their own
            if "data-key" in node.attributes:
                texts = expected[node.attributes["data-key"]]
                text = texts[name]
                if node.tag == "g":  # a mark of a plot tells its number at the end of its title
                    title = node.first("title").text
                    assert title.endswith(f": {texts['quoted'] if name == 'paper' else text}"), (title, texts)
                    assert name != "cost" or f" in {texts['minutes']} minutes: " in title
                else:
                    assert node.text == text, (node.attributes, node.text, text)
                seen[name] = seen.get(name, 0) + 1
    fields = {*expected[comparisons[-1].experiment.name], *expected_of_record(every_run(raw)[0]), *KINDS[1:], "wrong"}
    fields |= {"here", "spread", "paper", "paper spread", "difference", "curve", "cost"}
    assert set(seen) == fields and sum(seen.values()) > 3_000


def test_no_two_rows_of_a_plot_have_the_same_letters(comparisons):
    for comparison in comparisons:
        letters = [look.letter for look in looks(comparison).values()]
        assert len(set(letters)) == len(letters), (comparison.experiment.name, letters)


def test_no_number_stands_outside_of_what_is_checked(page, comparisons):
    # Names of rules, ticks of axes and sentences have digits too; results are in none of them.
    told = ("th", "h2", "h3", "h4", "p", "code", "caption", "title", "style", "a", "b", "i")
    experiments = [comparison.experiment for comparison in comparisons]
    prose = {*CONTRADICTIONS, *(label(name) for experiment in experiments for name in (*experiment.columns, *experiment.rows))}
    for node in page.all():
        for child in node.children:
            if isinstance(child, str) and re.search(r"\d", child) and child not in prose:
                around = list(node.above())
                assert (
                    any("data-key" in each.attributes or each.tag in told for each in around)
                    or {"tick", "letter"} & set(node.classes)
                    or {"failed", "text"} & {name for each in around for name in each.classes}
                ), child


def test_a_table_shows_what_the_ledger_has_and_no_more(page, comparisons, raw):
    for comparison in comparisons:
        places = comparison.experiment.places
        (table,) = (node for node in section(page, comparison.experiment.name).all("table") if "numbers" in node.classes)
        shown = [node.attributes["data-key"] for node in table.all() if node.attributes.get("data-field") == "here"]
        assert sorted(shown) == sorted(place.cell.group for place in places if place.cell.group in raw)
        missing = [node for node in table.all("td") if "missing" in node.classes]
        assert len(missing) == len(places) - len(shown)
        assert {node.text for node in missing} <= {"·", "failed"}


def test_a_number_stands_in_its_row_and_column(page, comparisons):
    for comparison in comparisons:
        (table,) = (node for node in section(page, comparison.experiment.name).all("table") if "numbers" in node.classes)
        bodies = list(table.all("tbody"))
        assert len(bodies) == len(comparison.experiment.rows)
        for row, body in zip(comparison.experiment.rows, bodies, strict=True):
            assert body.first("th").text == label(row)
            for line in body.all("tr"):
                cells = list(line.all("td"))
                assert len(cells) == len(comparison.experiment.columns)
                for column, cell in zip(comparison.experiment.columns, cells, strict=True):
                    key = comparison.experiment.place(row, column).cell.group
                    assert all(node.attributes["data-key"] == key for node in cell.all("span") if "data-key" in node.attributes)


def test_the_best_of_a_column_is_bold(page, comparisons):
    for comparison in comparisons:
        (table,) = (node for node in section(page, comparison.experiment.name).all("table") if "numbers" in node.classes)
        bold = [node.text for node in table.all("b")]
        expected = []
        for column in comparison.experiment.columns:
            shown = [f"{entry.here:.1f}" for entry in comparison.entries if entry.place.column == column and entry.records]
            if len(shown) > 1 and not comparison.experiment.probed:
                expected += [text for text in shown if text == max(shown, key=float)]
        assert sorted(bold) == sorted(expected)


def test_a_cell_tells_how_it_was_made(page, raw):
    told = 0
    for node in page.all("td"):
        if "title" in node.attributes and "missing" not in node.classes:
            records = raw[node.first("span").attributes["data-key"]]
            seeds = "1 seed" if len(records) == 1 else f"{len(records)} seeds"
            training, task = records[0]["training"], records[0]["task"]
            commits = ", ".join(sorted({content["commit"] for content in records}))
            spent = statistics.mean(content["minutes"] for content in records)
            assert node.attributes["title"] == (
                f"{seeds}, {protocol(records[0])}, {training['epochs']} epochs, {task['test_count']:,} test puzzles, "
                f"{spent:,.1f} min a run, commit {commits}"
            )
            told += 1
    assert told > 100


def test_maps_show_every_rule(page, raw):
    count = 0
    for node in page.all("table", "tr"):
        what, _, family = node.attributes.get("data-field", "").partition(" ")
        if what not in ("right", "apart"):
            continue
        expected, shown = shares(raw[node.attributes["data-key"]], family, what), {}
        if node.tag == "tr":  # a strip: the angles are in the first row of the table
            angles = [float(head.text.rstrip("°")) for head in next(node.parent.all("tr")).all("th")]
            shown = {(angle,): cell.text for angle, cell in zip(angles, node.all("td"), strict=True) if cell.text}
        else:
            first, *rows = node.all("tr")
            across = [float(head.text) for head in first.all("th")]
            for row in rows:
                down = float(row.first("th").text)
                shown |= {(at, down): cell.text for at, cell in zip(across, row.all("td"), strict=True) if cell.text}
        assert shown == expected
        count += len(shown)
    assert count > 3_000


# --- marks stand where their numbers are ------------------------------------------------------------------------------------


def read_axis(text: str):
    """The inverse of an axis: from pixels to values."""
    low, high, start, end, *log = text.split()
    low, high, start, end = map(float, (low, high, start, end))
    if log:
        return lambda at: 10 ** (math.log10(low) + (at - start) / (end - start) * math.log10(high / low))
    return lambda at: low + (at - start) / (end - start) * (high - low)


def test_marks_stand_where_their_numbers_are(page, raw):
    checked: dict[str, int] = {}
    for node in page.all("g"):
        name, records = node.attributes["data-field"], raw.get(node.attributes["data-key"], [])
        picture = next(each for each in node.above() if each.tag == "svg")
        mark = next(node.all("polyline", "circle", "rect", "line"))
        told = float(re.findall(r"[\d.]+", node.first("title").text.rpartition(": ")[2])[0])
        if "data-x" not in picture.attributes:  # at a glance: places are in % of the width
            at = mark.attributes["cx" if mark.tag == "circle" else "x1"]
            assert float(at.rstrip("%")) == pytest.approx(told, abs=0.06)
        else:
            x, y = (read_axis(picture.attributes[side]) for side in ("data-x", "data-y"))
            if mark.tag == "polyline":
                points = [tuple(map(float, point.split(","))) for point in mark.attributes["points"].split()]
                curve = [mean(epoch[1] for epoch in epochs) for epochs in zip(*(c["curve"] for c in records), strict=True)]
                assert [y(up) for _, up in points] == pytest.approx(curve, abs=0.1)
                rounding = 0.06 * abs(x(1) - x(0))  # places are given to a tenth
                assert [x(across) for across, _ in points] == pytest.approx(range(1, len(curve) + 1), abs=rounding)
            elif mark.tag == "rect":
                width = x(float(mark.attributes["x"]) + float(mark.attributes["width"])) - x(float(mark.attributes["x"]))
                assert width == pytest.approx(told, abs=0.06)
            else:
                assert y(float(mark.attributes["cy"])) == pytest.approx(told, abs=0.06)
                if name == "cost":
                    spent = statistics.mean(content["minutes"] for content in records)
                    assert x(float(mark.attributes["cx"])) == pytest.approx(spent, rel=0.01)
        checked[name] = checked.get(name, 0) + 1
    assert {"here", "paper", "curve", "cost", "wrong rule"} <= set(checked)


def test_every_function_stands_on_the_map_where_the_ledger_has_it(tmp_path):
    experiment, ledger = make_experiment("figure-map"), Ledger(tmp_path)
    cell = experiment.place("fine", "map").cell
    ledger.write(record(cell, result(cell, random.Random(0)), ()))
    expected = [(row["rule"], row["across"], row["down"]) for row in ledger.records()[0].details]
    made = Reader(html_page([compare(experiment, ledger)])).root
    panels = [node for node in made.all("svg") if "data-x" in node.attributes]
    assert len(panels) == 1 + 5  # all of them, and each of the five affine families
    shown = []
    for panel in panels[1:]:
        x, y = (read_axis(panel.attributes[side]) for side in ("data-x", "data-y"))
        for node in panel.all("circle"):
            shown.append((node.first("title").text, x(float(node.attributes["cx"])), y(float(node.attributes["cy"]))))
    assert [name for name, _, _ in shown] == [name for name, _, _ in expected]
    for (_, *places), (_, *true) in zip(shown, expected, strict=True):
        assert places == pytest.approx(true, abs=1e-4)  # a hundredth of a pixel of 188
    assert len(list(panels[0].all("circle"))) == len(expected)


def test_reliability_stands_where_the_ledger_has_it(tmp_path):
    experiment, ledger = make_experiment("calibration"), Ledger(tmp_path)
    cell = experiment.place("with a temperature", "affine").cell
    rows = [
        {"from": 0.4, "to": 0.5, "puzzles": 10, "sure": 0.45, "right": 0.3, "temperature": 1.5},
        {"from": 0.9, "to": 1.0, "puzzles": 90, "sure": 0.97, "right": 0.95, "temperature": 1.5},
    ]
    ledger.write(record(cell, result(cell, random.Random(0)) | {"details": rows}, ()))
    made = Reader(html_page([compare(experiment, ledger)])).root
    (panel,) = (node for node in made.all("svg") if "data-x" in node.attributes)
    x, y = (read_axis(panel.attributes[side]) for side in ("data-x", "data-y"))
    shown = [(x(float(dot.attributes["cx"])), y(float(dot.attributes["cy"]))) for dot in panel.all("circle")]
    assert shown == [pytest.approx((row["sure"], row["right"]), abs=1e-3) for row in rows]
    assert "10 answers, 45.0 % sure: 30.0 % right" in panel.text


# --- the page by itself -----------------------------------------------------------------------------------------------------


def test_the_same_ledger_makes_the_same_bytes(comparisons, ledger):
    again = [compare(make_experiment(name), Ledger(ledger.folder)) for name in EXPERIMENTS]
    text = html_page(comparisons)
    assert html_page(again) == text
    assert not any(entry.date[:10] in text for entry in ledger.entries())


def test_the_page_needs_nothing_else(comparisons, page):
    text = html_page(comparisons)
    assert not re.search(r"https?:|url\(|@import|src=|<link|<script|<img", text)
    assert all(node.attributes["href"].startswith("#") for node in page.all("a"))
    ids = [node.attributes["id"] for node in page.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids)) and {node.attributes["href"][1:] for node in page.all("a")} <= set(ids)


def test_values_from_files_are_escaped(comparisons):
    text = html_page(comparisons)
    assert "&lt;script&gt;alert('1')&lt;/script&gt;" in text
    table = next(each for each in comparisons if any(entry.failure for entry in each.entries))
    assert r"\<script\>alert('1')\</script\> \| 100 % & $x\_1$ \\ \*so\*" in markdown_table(table)
    assert r"$<$script$>$alert('1')$<$/script$>$ | 100 \% \& \$x\_1\$ \textbackslash{} *so*" in latex_table(table)


def test_the_page_can_be_heard(page):
    assert page.first("html").attributes["lang"] == "en"
    for node in page.all("th"):
        assert node.attributes["scope"] in ("row", "col", "rowgroup", "colgroup")
    for node in page.all("svg"):
        assert "aria-hidden" in node.attributes or (node.attributes["role"] == "img" and node.attributes["aria-label"])
    for node in page.all("table"):
        named = next(node.all("caption"), None) or {"strip", "runs"} & set(node.classes)
        assert named


def test_an_empty_ledger_makes_a_page_of_missing_places(tmp_path):
    comparisons = [compare(make_experiment(name), Ledger(tmp_path)) for name in EXPERIMENTS]
    empty = Reader(html_page(comparisons)).root
    fields = {node.attributes.get("data-field") for node in empty.all()} - {None}
    assert fields == {"filled", "paper", "paper spread"}
    assert sum("missing" in node.classes for node in empty.all("td")) == sum(len(each.entries) for each in comparisons)


# --- Markdown and LaTeX -----------------------------------------------------------------------------------------------------


def rows_of(text: str, kind: str) -> list[list[str]]:
    """The body of a table as texts."""
    if kind == "markdown":
        lines = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    else:
        body = text[text.index("\\midrule") : text.index("\\bottomrule")]
        lines = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines() if line.endswith(r"\\")]
        plain = {r"$\pm$": "±", "$-$": "−", r"$\cdot$": "·", r"$\approx$": "≈", r"$^\circ$": "°", r"\%": "%"}
        plain |= {r"\textbf{": "**", "}": "**"}
        lines = [[re.sub("|".join(map(re.escape, plain)), lambda at: plain[at[0]], cell) for cell in line] for line in lines]
    return [[cell.strip() for cell in line] for line in lines]


@pytest.mark.parametrize(("kind", "write"), [("markdown", markdown_table), ("latex", latex_table)])
def test_tables_of_text_show_the_ledgers_numbers(kind, write, comparisons, raw):
    for comparison in comparisons:
        text, experiment, row = write(comparison), comparison.experiment, ""
        places = 0
        for line in rows_of(text, kind):
            row = line[0] or row
            name = next(each for each in experiment.rows if label(each) == row)
            for column, shown in zip(experiment.columns, line[2:], strict=True):
                place = experiment.place(name, column)
                expected = expected_of_group(raw.get(place.cell.group, []), place.paper)
                spread = {"here": "spread", "paper": "paper spread"}.get(line[1], "")
                whole = " ± ".join(filter(None, (expected.get(line[1], ""), expected.get(spread, ""))))
                if line[1] == "here" and not whole:
                    assert shown in ("·", "failed")
                else:
                    assert shown.replace("**", "") == whole
                places += line[1] == "here"
        assert places == len(experiment.places)
        facts = expected_of_experiment(comparison, raw)
        assert all(f"{name}: {facts[name]}" in text for name in ("filled", "protocol", "seeds", "test puzzles", "minutes"))


# --- the small things -------------------------------------------------------------------------------------------------------


def test_other_pictures_have_no_paper_and_no_difference(tmp_path):
    experiment = make_experiment("table4", images="glyphs")
    ledger = Ledger(tmp_path)
    cell = experiment.places[0].cell
    ledger.write(record(cell, result(cell, random.Random(0)), (Epoch(1.0, 0.5),)))
    made = Reader(html_page([compare(experiment, ledger)])).root
    fields = {node.attributes.get("data-field") for node in made.all()}
    assert "here" in fields and not {"paper", "difference"} & fields


def test_everything_is_written(tmp_path, comparisons):
    written = write_report(comparisons[:2], tmp_path / "a" / "report.html", tmp_path / "a" / "tables")
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "a/report.html", "a/tables/table1.md", "a/tables/table1.tex", "a/tables/table4.md", "a/tables/table4.tex",
    ]  # fmt: skip
    assert all(path.read_text(encoding="utf-8") for path in written)


@pytest.mark.parametrize(("value", "text"), [(3.04, "+3.0"), (-3.06, "−3.1"), (0.04, "0.0"), (-0.04, "0.0")])
def test_a_difference_has_its_sign(value, text):
    assert signed(value) == text


def test_attributes_and_texts_are_escaped():
    assert element("p", '<&"', title='"<') == '<p title="&quot;&lt;">&lt;&amp;"</p>'
    assert element("a", element("b", "x"), aria_label="y", none=None, x=1.0, y=2.346) == (
        '<a aria-label="y" x="1" y="2.35"><b>x</b></a>'
    )


def test_letters_keep_apart():
    heights = spread_out([50.0, 50.0, 10.0, 119.0, 118.0], gap=8, low=8, high=120)
    ordered = sorted(heights)
    assert all(after - before >= 8 - 1e-9 for before, after in itertools.pairwise(ordered))
    assert heights[2] == 10 and ordered[0] >= 8 and ordered[-1] <= 120
    places = letter_places([(50.0, 50.0), (52.0, 50.0), (150.0, 20.0)])
    assert places[2] == (157.0, 23.0) and math.dist(places[0], places[1]) > 6


@pytest.mark.parametrize(("low", "high", "steps"), [(1.5, 18.0, [1, 2, 5, 10, 20]), (2.0, 2.0, [2, 5]), (0.3, 0.4, [0.2, 0.5])])
def test_round_steps_hold_what_is_between(low, high, steps):
    assert round_steps(low, high) == pytest.approx(steps)


# --- the command ------------------------------------------------------------------------------------------------------------


def test_the_command_writes_the_report(fine, ledger, tmp_path):
    code, out, _ = fine("report", "--results", str(ledger.folder.parent), "--out", str(tmp_path))
    assert code == 0 and "table1: " in out and "report.html" in out
    assert len(list((tmp_path / "tables").iterdir())) == 2 * len(EXPERIMENTS)
    assert not (ledger.folder.parent / "report.html").exists()
    names = re.findall(r'<section id="([\w-]+)"', (tmp_path / "report.html").read_text(encoding="utf-8"))
    paper = ["table1", "table2", "table3", "table4", "figure-map", "figure-memories", "figure-training-size", "scaling"]
    assert names[: len(paper)] == paper and set(names) == set(EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no ledger at"),
        (("tabel1",), "did you mean 'table1'?"),
        (("--protocol", "slow"), "unknown protocol 'slow'"),
    ],
)
def test_bad_input_is_one_clear_line(fine, arguments, words, tmp_path, ledger):
    results = ledger.folder.parent if arguments else tmp_path
    code, _, err = fine("report", *arguments, "--results", str(results))
    assert code == 2 and words in err.replace("\n", " ")
    assert not Path(results / "report.html").exists()


def test_a_report_of_another_protocol_has_none_of_these_results(ledger):
    training = replace(make_experiment("table1").places[0].cell.config.training, epochs=7)
    other = compare(make_experiment("table1", training=training), ledger)
    assert not other.records and "·" in markdown_table(other)


@pytest.mark.parametrize("minutes", [1e-9, 0.001, 3, 4.9e8, 5e8, 1e200])
def test_an_axis_has_two_ends_whatever_a_record_claims(minutes):
    """A record of a thousand years of training, which came from nobody knows where, once made an axis of one point."""
    steps = round_steps(minutes, minutes)
    assert len(steps) >= 2 and steps == sorted(set(steps))
