"""A whole HTML file of the report: one head and one style for all of its pages."""

from importlib.resources import files

from fine.report.markup import Content, Markup, block, element, lines


def document(title: str, *body: Content) -> str:
    """A page of this title, complete in itself: its style is in it."""
    style = files("fine.report").joinpath("style.css").read_text(encoding="utf-8")
    head = lines(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(f"\n{style}")),
    )
    page = block("html", element("head", head), element("body", lines(*body)), lang="en")
    return f"<!doctype html>\n{page}\n"
