"""A reader of pages: HTML as a tree of nodes."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Node:
    """An element of a page."""

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
        """All nodes below, or those with these tags."""
        for child in self.children:
            if isinstance(child, Node):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def above(self) -> Iterator["Node"]:
        """This node, its parent, and so on."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def first(self, tag: str) -> "Node":
        return next(self.all(tag))


class Reader(HTMLParser):
    """Reads a page, and fails if an element is not closed."""

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
        attributes = {name: value or "" for name, value in attrs}
        self.at.children.append(Node(tag, attributes, parent=self.at))

    def handle_endtag(self, tag):
        assert tag == self.at.tag, f"</{tag}> closes {self.at.tag}"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def read_page(text: str) -> Node:
    """The root of a page."""
    return Reader(text).root


def section(page: Node, name: str) -> Node:
    """The section of an experiment."""
    return next(node for node in page.all("section") if node.attributes["id"] == name)


def numbers_table(page: Node, name: str) -> Node:
    """The table of an experiment."""
    (table,) = (node for node in section(page, name).all("table") if "numbers" in node.classes)
    return table


def plots(page: Node) -> list[Node]:
    """The drawings that have axes."""
    return [node for node in page.all("svg") if "data-x" in node.attributes]


def axes_of(plot: Node) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The inverse of both axes: from pixels to values."""
    return _inverse(plot.attributes["data-x"]), _inverse(plot.attributes["data-y"])


def _inverse(text: str) -> Callable[[float], float]:
    *numbers, _ = (*text.split(), "")[:5]
    low, high, start, end = map(float, numbers)
    if text.endswith("log"):
        decades = math.log10(high / low)
        return lambda at: 10 ** (math.log10(low) + (at - start) / (end - start) * decades)
    return lambda at: low + (at - start) / (end - start) * (high - low)
