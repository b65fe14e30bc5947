"""The map of functions: each a point, all of them coloured by family, and every family by itself, coloured by parameter."""

from typing import Any

from fine.drawing.colours import family_colour, rule_colour
from fine.experiments.comparison import Comparison
from fine.report.markup import Content, Markup, element, join
from fine.report.panels import Axis, figure, multiples, panel
from fine.rules import FAMILIES, Rule

SIDE, EDGE = 200.0, 6.0
"""Width and height of a panel, and what is left free around the points."""
LAID_OUT = {"umap": "UMAP", "principal": "principal components"}


def function_chart(comparison: Comparison) -> Markup | None:
    """The figure; None if the experiment has no map."""
    found = [record for record in comparison.records if _points(record.details)]
    if not found:
        return None
    record = found[0]  # a mean of maps is no map: that of the first seed
    points = _points(record.details)
    families = list(dict.fromkeys(point["family"] for point in points))
    whole = _panel("all families", points, [family_colour(point["family"]) for point in points])
    parts = [whole]
    for family in families:
        own = [point for point in points if point["family"] == family]
        parts.append(_panel(f"{family}, by parameter", own, [_own_colour(point) for point in own]))
    names = [
        element("li", element("i", style=f"background:{family_colour(family)}"), element("span", family)) for family in families
    ]
    note = (
        f"{len(points)} functions, each composed from one example pair over classes never seen in training and laid out by "
        f"{LAID_OUT[points[0]['layout']]}: like functions lie near each other. Point at one to read its rule. In the panel "
        "of a family like parameters have like colours."
    )
    return figure("chart", "The map", note, element("ul", join(names), class_="legend"), multiples(parts))


def _points(details: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    return [row for row in details if "across" in row]


def _own_colour(point: dict[str, Any]) -> str:
    return rule_colour(Rule(FAMILIES[point["family"]], tuple(point["parameters"])))


def _panel(title: str, points: list[dict[str, Any]], colours: list[str]) -> Markup:
    axis = Axis(0, 1, EDGE, SIDE - EDGE)
    parts: list[Content] = [element("rect", x=0, y=0, width=SIDE, height=SIDE, class_="ground")]
    for point, colour in zip(points, colours, strict=True):
        at = {"cx": axis(point["across"]), "cy": axis(point["down"])}
        parts.append(element("circle", element("title", point["rule"]), **at, r=2.4, fill=colour))
    return panel(title, join(parts), x=axis, y=axis, describe=f"Map of functions, {title}", height=SIDE)
