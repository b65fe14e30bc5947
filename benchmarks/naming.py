"""How often `explain` names the right rule: python benchmarks/naming.py [MODEL [RULES [PUZZLES]]]

Over test puzzles of glyphs, whose classes no bundled model has seen. Rules that do the same count
as one.
"""

import sys
from dataclasses import replace

from fine import Task, explain, load
from fine.inference.naming import distinct_rules
from fine.puzzles import RIGHT
from fine.rules import rule_set
from timing import show

USUAL = ("all-glyphs", "all", "300")
IDENTITY = "translation (0, 0)"


def main() -> None:
    given = sys.argv[1:]
    name, rules, count = (*given, *USUAL[len(given) :])
    model = load(name)
    task = replace(Task.preset("glyphs", rules=rules), test_count=int(count), size=model.size)
    puzzles = task.test_puzzles()
    images = puzzles.render(range(len(puzzles))).images
    known = {str(rule) for rule in distinct_rules(rule_set(rules), model.size)[1]}
    found: dict[str, list[tuple[bool, bool, bool, float]]] = {}
    for (x, y), spec in zip(images[:, :2], puzzles.specs, strict=True):
        rule = puzzles.rules.rules[spec[RIGHT]]
        right = str(rule) if str(rule) in known else IDENTITY  # other names of the identity
        named = explain(model, x, y, rules=rules, verify=False)
        labels = [entry.label for entry in named]
        family = named[0].family == right.split()[0]
        row = (labels[0] == right, right in labels, family, named[0].probability)
        found.setdefault(rule.family.name, []).append(row)
    found["all"] = [row for rows in found.values() for row in rows]
    lines = []
    for family, rows in found.items():
        shares = (f"{sum(part) / len(rows):.1%}" for part in zip(*rows, strict=True))
        lines.append((family, f"{len(rows)}", *shares))
    shares = ("rule right", "among first 3", "family right", "mean probability")
    show(f"Naming rules, {name}", ("family", "puzzles", *shares), lines)


if __name__ == "__main__":
    main()
