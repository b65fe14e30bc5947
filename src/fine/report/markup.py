"""HTML and SVG as text, with everything escaped that is not markup already.

element("p", "1 < 2", class_="note")      # <p class="note">1 &lt; 2</p>
"""

from collections.abc import Iterable

from markupsafe import Markup, escape

__all__ = ["Content", "Markup", "Value", "block", "element", "join", "lines"]

VOID = {"meta", "br", "col", "line", "rect", "circle", "polyline"}
"""Elements that are often empty; then they are written without an end tag."""
_SVG_ONLY = {"line", "rect", "circle", "polyline"}


Content = str | Markup
Value = str | float | None


def element(name: str, /, *children: Content, **attributes: Value) -> Markup:
    """An element. In the name of an attribute ``_`` stands for ``-``, and at its end for nothing.

    An attribute that is None is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not children and name in VOID:
        return Markup(f"<{name}{written}/>" if name in _SVG_ONLY else f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Content], between: str = "") -> Markup:
    """Children one after the other."""
    return Markup(between).join(children)


def block(name: str, /, *children: Content, **attributes: Value) -> Markup:
    """An element with each child on a line of its own."""
    return element(name, Markup("\n"), lines(*children), Markup("\n"), **attributes)


def lines(*children: Content) -> Markup:
    """Children on lines of their own, so that a change of one is a change of one line."""
    return join(children, between="\n")


def _text(value: str | float) -> str:
    """A number in as few characters as a hundredth allows; a text as it is."""
    if isinstance(value, str):
        return value
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
