"""How often `explain` names the rule that made y from x: python benchmarks/naming.py [MODEL [RULES [PUZZLES]]]

Over test puzzles of glyphs, whose classes no packaged model has seen. Rules that do the same count as one.
"""

import sys
from dataclasses import replace

from fine import Task, explain, load
from fine.puzzles import RIGHT
from fine.rules import rule_set
from fine.solving.naming import distinct_rules
from timing import show


def main() -> None:
    name, rules, count = (*sys.argv[1:], *("all-glyphs", "all", "300")[len(sys.argv) - 1 :])
    model = load(name)
    puzzles = replace(Task.preset("glyphs", rules=rules), test_count=int(count), size=model.size).test_puzzles()
    pictures = puzzles.render(range(len(puzzles))).pictures
    known = {str(rule) for rule in distinct_rules(rule_set(rules), model.size)[1]}
    found: dict[str, list[tuple[bool, bool, bool, float]]] = {}
    for (x, y), spec in zip(pictures[:, :2], puzzles.specs, strict=True):
        rule = puzzles.rules.rules[spec[RIGHT]]
        right = str(rule) if str(rule) in known else "translation (0, 0)"  # what else is called the identity
        named = explain(model, x, y, rules=rules)
        labels = [entry.label for entry in named]
        row = (labels[0] == right, right in labels, named[0].family == right.split()[0], named[0].probability)
        found.setdefault(rule.family.name, []).append(row)
    found["all"] = [row for rows in found.values() for row in rows]
    lines = [
        (family, f"{len(rows)}", *(f"{sum(part) / len(rows):.1%}" for part in zip(*rows, strict=True)))
        for family, rows in found.items()
    ]
    show(
        f"Naming rules, {name}", ("family", "puzzles", "rule right", "among first 3", "family right", "said to be sure"), lines
    )


if __name__ == "__main__":
    main()
