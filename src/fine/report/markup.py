"""HTML and SVG as text, with everything that is not markup already escaped.

element("p", "1 < 2", class_="note")      # <p class="note">1 &lt; 2</p>
"""

from html import escape

VOID = {"meta", "br", "col", "line", "rect", "circle", "polyline"}
"""Elements that are often empty; then they are written without an end."""
_SVG_ONLY = {"line", "rect", "circle", "polyline"}


class Markup(str):
    """Text that is markup, to be put on the page as it is."""

    __slots__ = ()


Content = str | Markup
Value = str | float | None


def element(name: str, /, *children: Content, **attributes: Value) -> Markup:
    """An element; an attribute's ``_`` stands for ``-``, one at its end for nothing, and one that is None is left out."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{escape(_text(value))}"' for key, value in given.items())
    if not children and name in VOID:
        return Markup(f"<{name}{written}/>" if name in _SVG_ONLY else f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: tuple[Content, ...] | list[Content] | list[Markup], between: str = "") -> Markup:
    """Children one after the other."""
    return Markup(between.join(child if isinstance(child, Markup) else escape(child, quote=False) for child in children))


def block(name: str, /, *children: Content, **attributes: Value) -> Markup:
    """An element whose children have a line each."""
    return element(name, Markup("\n"), lines(*children), Markup("\n"), **attributes)


def lines(*children: Content) -> Markup:
    """Children a line each, so that a change of one is a change of one line."""
    return join(children, between="\n")


def _text(value: str | float) -> str:
    """A number in as few characters as a hundredth allows; a text as it is."""
    if isinstance(value, str):
        return value
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
