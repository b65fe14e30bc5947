"""Small multiples: axes, ticks, and the panels of a figure, one a column of the table."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fine.report.markup import Content, Markup, block, element, join

WIDTH, HEIGHT = 200.0, 148.0
LEFT, RIGHT, TOP, BOTTOM = 26.0, 184.0, 8.0, 124.0
"""The plotted part of a panel; letters stand to its right."""


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    @property
    def text(self) -> str:
        """The axis for a reader of the source (and for the tests): low, high, start, end."""
        return f"{self.low:g} {self.high:g} {self.start:g} {self.end:g}" + (" log" if self.log else "")


def accuracy_axis(values: Iterable[float]) -> Axis:
    """Accuracy in %, upwards: from 20, just below a blind guess, if nothing is lower."""
    return Axis(20 if min(values, default=100) >= 20 else 0, 100, BOTTOM, TOP)


def round_steps(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, … from just below ``low`` to just above ``high``."""
    steps = [base * 10.0**power for power in range(-3, 9) for base in (1, 2, 5)]
    first = max((number for number, step in enumerate(steps[:-1]) if step <= low), default=0)  # an axis has two ends
    last = min((number for number, step in enumerate(steps) if step >= high), default=len(steps) - 1)
    return steps[first : max(last, first + 1) + 1]


def grid(x: Axis, y: Axis, *, x_ticks: dict[float, str], y_ticks: dict[float, str]) -> Markup:
    """Lines across for the y ticks, and names of all ticks."""
    parts: list[Content] = []
    for at, text in y_ticks.items():
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y(at), y2=y(at), class_="grid"))
        parts.append(element("text", text, x=LEFT - 4, y=y(at) + 3, class_="tick end"))
    for at, text in x_ticks.items():
        parts.append(element("line", x1=x(at), x2=x(at), y1=BOTTOM, y2=BOTTOM + 3, class_="grid"))
        parts.append(element("text", text, x=x(at), y=BOTTOM + 13, class_="tick middle"))
    return join(parts)


def accuracy_ticks(y: Axis) -> dict[float, str]:
    return {at: f"{at:g}" for at in (0, 25, 50, 75, 100) if y.low <= at <= y.high}


def panel(title: str, drawn: Content, *, x: Axis, y: Axis, describe: str, height: float = HEIGHT) -> Markup:
    """One picture of a figure, under its title."""
    picture = element(
        "svg",
        element("title", describe),
        drawn,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        aria_label=describe,
        data_x=x.text,
        data_y=y.text,
    )
    return element("div", element("h4", title), picture, class_="panel")


def figure(name: str, heading: str, note: Content, *body: Content) -> Markup:
    """A figure with its caption above."""
    caption = element("figcaption", element("h3", heading), element("p", note))
    return block("figure", caption, *body, class_=f"figure {name}")


def folded(name: str, heading: str, note: Content, *body: Content, unfolded: bool = False) -> Markup:
    """A figure that is shown on demand."""
    summary = element("summary", element("h3", heading))
    inside = block("figure", element("figcaption", element("p", note)), *body, class_=name)
    return element("details", summary, Markup("\n"), inside, open="" if unfolded else None)


def multiples(panels: list[Markup]) -> Markup:
    """Panels side by side, as many as there is room for."""
    return block("div", *panels, class_="panels")


def spread_out(heights: list[float], *, gap: float, low: float, high: float) -> list[float]:
    """The same places, moved as little as keeps them ``gap`` apart and between ``low`` and ``high``."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    placed = [heights[number] for number in order]
    for number in range(len(placed)):
        placed[number] = max(placed[number], low if number == 0 else placed[number - 1] + gap)
    for number in reversed(range(len(placed))):
        placed[number] = min(placed[number], high if number == len(placed) - 1 else placed[number + 1] - gap)
    moved = [0.0] * len(heights)
    for number, at in zip(order, placed, strict=True):
        moved[number] = at
    return moved
