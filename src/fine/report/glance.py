"""A table at a glance: a line a column, a mark a model, and a ring for the best of the paper's FINE.

Places are in % of the width, so a mark stands at the accuracy it shows on a screen of any size.
"""

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.experiment import label
from fine.report.looks import looks
from fine.report.markup import Markup, block, element, join
from fine.report.numbers import tenths
from fine.report.panels import figure

PAPERS = ("fine-mlp", "fine-nice")
TICKS = (0, 25, 50, 75, 100)


def at_a_glance(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    rows = []
    for column in comparison.experiment.columns:
        entries = [entry for entry in comparison.entries if entry.place.column == column]
        if any(entry.records for entry in entries):
            rows.append(element("li", element("span", label(column)), _line(comparison, column, entries)))
    if not rows:
        return None
    note = "Test accuracy in %. A dot is ours, a bar one of the paper's FINE models run here, a stroke another model."
    if comparison.has_paper:
        note += " The ring is the better FINE of the paper."
    scale = element("li", element("span"), element("div", *(element("i", str(tick)) for tick in TICKS)), class_="scale")
    return figure("glance", "At a glance", note, block("ul", *rows, scale))


def _line(comparison: Comparison, column: str, entries: list[Entry]) -> Markup:
    styles = looks(comparison)
    parts = [element("line", x1=f"{tick}%", x2=f"{tick}%", y1=0, y2=24, class_="grid") for tick in TICKS]
    quoted = [entry for entry in entries if entry.paper is not None and entry.place.row in PAPERS]
    if quoted:
        best = max(quoted, key=lambda entry: entry.paper.mean if entry.paper else 0)
        told = f"{label(best.place.row)}, {label(column)}, in the paper: {best.paper}"
        ring = element("circle", cx=f"{best.paper.mean if best.paper else 0:g}%", cy=12, r=5.5, class_="ring")
        parts.append(element("g", element("title", told), ring, data_key=best.place.cell.group, data_field="paper"))
    for entry in sorted(entries, key=lambda entry: entry.place.row == "fine"):  # ours on top
        if entry.here is None:
            continue
        row, at = entry.place.row, f"{entry.here:.2f}%"
        told = f"{label(row)}, {label(column)}: {tenths(entry.here)}"
        if row == "fine":
            mark = element("circle", cx=at, cy=12, r=5, class_="dot ours")
        else:
            high = row in PAPERS
            kind = f"stroke {'theirs' if high else styles[row].kind.split()[0]}"
            mark = element("line", x1=at, x2=at, y1=5 if high else 8, y2=19 if high else 16, class_=kind)
        parts.append(element("g", element("title", told), mark, data_key=entry.place.cell.group, data_field="here"))
    return element(
        "svg", join(parts), height=24, role="img", aria_label=f"{label(column)}: accuracy of the models, in the table below"
    )
