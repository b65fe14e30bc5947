"""Marks of plots stand where their numbers are."""

import random
import re
import statistics

import pytest

from fine.experiments import Ledger, compare, make_experiment
from fine.report import html_page
from fine.report.styles import row_styles
from support.pages import axes_of, plots, read_page
from support.reports import mean, random_record


def number_of(node) -> float:
    """The number that a mark shows, from its title."""
    text = node.first("title").text.rpartition(": ")[2]
    return float(re.findall(r"[\d.]+", text)[0])


@pytest.mark.slow
def test_marks_stand_where_their_numbers_are(page, raw):
    checked: dict[str, int] = {}
    for node in page.all("g"):
        name = node.attributes["data-field"]
        records = raw.get(node.attributes["data-key"], [])
        plot = next(each for each in node.above() if each.tag == "svg")
        mark = next(node.all("polyline", "circle", "rect", "line"))
        shown, at = number_of(node), mark.attributes
        checked[name] = checked.get(name, 0) + 1
        if "data-x" not in plot.attributes:  # at a glance: places are in % of the width
            place = at["cx" if mark.tag == "circle" else "x1"]
            assert float(place.rstrip("%")) == pytest.approx(shown, abs=0.06)
            continue
        x, y = axes_of(plot)
        if mark.tag == "polyline":
            points = [tuple(map(float, point.split(","))) for point in at["points"].split()]
            epochs = zip(*(content["curve"] for content in records), strict=True)
            curve = [mean(accuracy for _, accuracy in seeds) for seeds in epochs]
            assert [y(down) for _, down in points] == pytest.approx(curve, abs=0.1)
            rounding = 0.06 * abs(x(1) - x(0))  # places are given to a tenth
            numbers = range(1, len(curve) + 1)
            assert [x(across) for across, _ in points] == pytest.approx(numbers, abs=rounding)
        elif mark.tag == "rect":
            left, width = float(at["x"]), float(at["width"])
            assert x(left + width) - x(left) == pytest.approx(shown, abs=0.06)
        else:
            assert y(float(at["cy"])) == pytest.approx(shown, abs=0.06)
            if name == "cost":
                spent = statistics.mean(content["minutes"] for content in records)
                assert x(float(at["cx"])) == pytest.approx(spent, rel=0.01)
    assert {"here", "paper", "curve", "cost", "wrong rule"} <= set(checked)


def test_no_two_rows_of_a_plot_have_the_same_letters(comparisons):
    for comparison in comparisons:
        letters = [style.letter for style in row_styles(comparison).values()]
        assert len(set(letters)) == len(letters), (comparison.experiment.name, letters)


def test_every_function_stands_on_the_map_where_the_ledger_has_it(tmp_path):
    experiment, ledger = make_experiment("figure-map"), Ledger(tmp_path)
    cell = experiment.place("fine", "map").cell
    ledger.write(random_record(cell, random.Random(0)))
    details = ledger.records()[0].details
    everything, *families = plots(read_page(html_page([compare(experiment, ledger)])))
    assert len(families) == 5  # the affine ones
    shown = []
    for panel in families:
        x, y = axes_of(panel)
        for node in panel.all("circle"):
            at = node.attributes
            shown.append((node.first("title").text, x(float(at["cx"])), y(float(at["cy"]))))
    assert [name for name, _, _ in shown] == [row["rule"] for row in details]
    for (_, *place), row in zip(shown, details, strict=True):
        # To a hundredth of a pixel of 188.
        assert place == pytest.approx([row["across"], row["down"]], abs=1e-4)
    assert len(list(everything.all("circle"))) == len(details)


def test_reliability_stands_where_the_ledger_has_it(tmp_path):
    experiment, ledger = make_experiment("calibration"), Ledger(tmp_path)
    cell = experiment.place("with a temperature", "affine").cell
    few = {"from": 0.4, "to": 0.5, "puzzles": 10, "sure": 0.45, "right": 0.3}
    many = {"from": 0.9, "to": 1.0, "puzzles": 90, "sure": 0.97, "right": 0.95}
    rows = [row | {"temperature": 1.5} for row in (few, many)]
    ledger.write(random_record(cell, random.Random(0), details=rows))
    (panel,) = plots(read_page(html_page([compare(experiment, ledger)])))
    x, y = axes_of(panel)
    dots = [dot.attributes for dot in panel.all("circle")]
    shown = [(x(float(at["cx"])), y(float(at["cy"]))) for at in dots]
    assert shown == [pytest.approx((row["sure"], row["right"]), abs=1e-3) for row in rows]
    assert "10 answers, 45.0 % sure: 30.0 % right" in panel.text
