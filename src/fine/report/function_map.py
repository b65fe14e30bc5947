"""The map of functions: all as points coloured by family, and each family coloured by parameter."""

import statistics
from typing import Any

from fine.drawing.colours import family_colour, rule_colour
from fine.experiments.comparison import Comparison
from fine.report.markup import Content, Markup, element, join
from fine.report.panels import Axis, figure, multiples, panel
from fine.rules import FAMILIES, Rule

SIDE, EDGE = 200.0, 6.0
"""Width and height of a panel, and the margin around the points."""
LAYOUTS = {"umap": "UMAP", "principal": "principal components"}

Point = dict[str, Any]


def function_map(comparison: Comparison) -> Markup | None:
    """The figure; None if the experiment has no map."""
    maps = [points for record in comparison.records if (points := _points(record.details))]
    if not maps:
        return None
    points = maps[0]  # maps have no mean: the one of the first seed
    families = list(dict.fromkeys(point["family"] for point in points))
    by_family = [family_colour(point["family"]) for point in points]
    panels = [_panel("all families", points, by_family, _names(points, families))]
    for family in families:
        own = [point for point in points if point["family"] == family]
        panels.append(_panel(f"{family}, by parameter", own, list(map(_rule_colour, own))))
    names = []
    for family in families:
        swatch = element("i", style=f"background:{family_colour(family)}")
        names.append(element("li", swatch, element("span", family)))
    note = (
        f"{len(points)} functions, each composed from one example pair over classes never seen in "
        f"training and laid out by {LAYOUTS[points[0]['layout']]}: similar functions lie near each "
        "other. Point at one to read its rule. In the panel of a family similar parameters have "
        "similar colours."
    )
    legend = element("ul", join(names), class_="legend")
    return figure("function-map", "The map", note, legend, multiples(panels))


def _points(details: tuple[Point, ...]) -> list[Point]:
    return [row for row in details if "across" in row]


def _rule_colour(point: Point) -> str:
    return rule_colour(Rule(FAMILIES[point["family"]], tuple(point["parameters"])))


def _names(points: list[Point], families: list[str]) -> Markup:
    """The name of each family in the middle of its points, for who cannot go by colours."""
    axis = Axis(0, 1, EDGE, SIDE - EDGE)
    names = []
    for family in families:
        own = [point for point in points if point["family"] == family]
        x, y = (statistics.median(point[way] for point in own) for way in ("across", "down"))
        names.append(element("text", family, x=axis(x), y=axis(y), class_="tick middle name"))
    return join(names)


def _panel(title: str, points: list[Point], colours: list[str], *names: Markup) -> Markup:
    axis = Axis(0, 1, EDGE, SIDE - EDGE)
    parts: list[Content] = [element("rect", x=0, y=0, width=SIDE, height=SIDE, class_="ground")]
    for point, colour in zip(points, colours, strict=True):
        at = {"cx": axis(point["across"]), "cy": axis(point["down"])}
        hover = element("title", point["rule"])
        parts.append(element("circle", hover, **at, r=2.4, fill=colour))
    parts += names
    describe = f"Map of functions, {title}"
    return panel(title, join(parts), x=axis, y=axis, describe=describe, height=SIDE)
