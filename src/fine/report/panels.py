"""Small multiples: axes, ticks, marks, and panels, one for each column of a table."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fine.experiments.comparison import Entry
from fine.report.markup import Content, Markup, block, element, join

WIDTH, HEIGHT = 200.0, 148.0
LEFT, RIGHT, TOP, BOTTOM = 26.0, 184.0, 8.0, 124.0
"""The plotted part of a panel; letters stand to its right."""
PERCENTS = (0, 25, 50, 75, 100)
"""Ticks of accuracy."""


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = (math.log10(number) for number in (low, high, at))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    @property
    def text(self) -> str:
        """The axis for a reader of the source (and for the tests): low, high, start, end."""
        ends = f"{self.low:g} {self.high:g} {self.start:g} {self.end:g}"
        return f"{ends} log" if self.log else ends


def accuracy_axis(values: Iterable[float]) -> Axis:
    """Accuracy in %, upwards: from 20, just below a blind guess, if nothing is lower."""
    return Axis(20 if min(values, default=100) >= 20 else 0, 100, BOTTOM, TOP)


def accuracy_ticks(y: Axis) -> dict[float, str]:
    return {at: f"{at:g}" for at in PERCENTS if y.low <= at <= y.high}


def round_steps(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, … from just below ``low`` to just above ``high``, at least two of them."""
    steps = [base * 10.0**power for power in range(-3, 9) for base in (1, 2, 5)]
    below = [number for number, step in enumerate(steps[:-1]) if step <= low]
    above = [number for number, step in enumerate(steps) if step >= high]
    first = max(below, default=0)
    last = max(min(above, default=len(steps) - 1), first + 1)
    return steps[first : last + 1]


def grid(
    x: Axis,
    y: Axis,
    *,
    x_ticks: dict[float, str],
    y_ticks: dict[float, str],
    right: float = RIGHT,
) -> Markup:
    """Lines across for the y ticks, and names of all ticks."""
    parts: list[Content] = []
    for at, text in y_ticks.items():
        parts.append(element("line", x1=LEFT, x2=right, y1=y(at), y2=y(at), class_="grid"))
        parts.append(element("text", text, x=LEFT - 4, y=y(at) + 3, class_="tick end"))
    for at, text in x_ticks.items():
        parts.append(element("line", x1=x(at), x2=x(at), y1=BOTTOM, y2=BOTTOM + 3, class_="grid"))
        parts.append(element("text", text, x=x(at), y=BOTTOM + 13, class_="tick middle"))
    return join(parts)


def mark(entry: Entry, field: str, hover: str, *drawn: Content) -> Markup:
    """What stands for a number of an entry in a plot; ``hover`` is read by pointing at it."""
    key = entry.place.cell.group
    return element("g", element("title", hover), *drawn, data_key=key, data_field=field)


def polyline(points: Iterable[tuple[float, float]], kind: str) -> Markup:
    """A line through points."""
    text = " ".join(f"{across:.1f},{down:.1f}" for across, down in points)
    return element("polyline", points=text, class_=f"line {kind}")


def drawing(
    drawn: Content, *, x: Axis, y: Axis, describe: str, width: float = WIDTH, height: float = HEIGHT
) -> Markup:
    """A plot with its axes and a description for those who cannot see it."""
    return element(
        "svg",
        element("title", describe),
        drawn,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=describe,
        data_x=x.text,
        data_y=y.text,
    )


def panel(
    title: str, drawn: Content, *, x: Axis, y: Axis, describe: str, height: float = HEIGHT
) -> Markup:
    """One plot of a figure, under its title."""
    plot = drawing(drawn, x=x, y=y, describe=describe, height=height)
    return element("div", element("h4", title), plot, class_="panel")


def figure(name: str, heading: str, note: Content, *body: Content) -> Markup:
    """A figure with its caption above."""
    caption = element("figcaption", element("h3", heading), element("p", note))
    return block("figure", caption, *body, class_=f"figure {name}")


def folded(
    name: str, heading: str, note: Content, *body: Content, unfolded: bool = False
) -> Markup:
    """A figure that is shown on demand."""
    summary = element("summary", element("h3", heading))
    caption = element("figcaption", element("p", note))
    inside = block("figure", caption, *body, class_=name)
    return element("details", summary, Markup("\n"), inside, open="" if unfolded else None)


def multiples(panels: list[Markup]) -> Markup:
    """Panels side by side, as many as there is room for."""
    return block("div", *panels, class_="panels")


def spread_out(heights: list[float], *, gap: float, low: float, high: float) -> list[float]:
    """The same places, moved as little as keeps them ``gap`` apart, from ``low`` to ``high``."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    placed = [heights[number] for number in order]
    for number in range(len(placed)):
        floor = low if number == 0 else placed[number - 1] + gap
        placed[number] = max(placed[number], floor)
    for number in reversed(range(len(placed))):
        ceiling = high if number == len(placed) - 1 else placed[number + 1] - gap
        placed[number] = min(placed[number], ceiling)
    moved = [0.0] * len(heights)
    for number, at in zip(order, placed, strict=True):
        moved[number] = at
    return moved
