"""What happens to an image: families of rules by name, and the warp that applies their formulas.

    rules = rule_set("rotation")         # a family, `affine`, `all`, several: "rotation+swap"
    warp = Warp(rules, size=32)
    y = warp(x, torch.tensor([3]))       # x (1, channels, 32, 32) under the fourth rule, 45°

families.py has the registry, paper.py the nine families of the paper, continuous.py those between
its grid points, patchwork.py a family for pretraining, strings.py the families of letter strings,
and warp.py applies rules to images. affine.py has rules as matrices, rule_map.py as maps of points,
and algebra.py composes and inverts them.
"""

from fine.rules import continuous, paper, patchwork  # they register their families
from fine.rules.families import (
    FAMILIES,
    Family,
    Rule,
    RuleSet,
    register_family,
    rule_set,
    tested_families,
    tested_rules,
)
from fine.rules.warp import Warp, apply_rules, negative_mask, source_points

__all__ = [
    "FAMILIES",
    "Family",
    "Rule",
    "RuleSet",
    "Warp",
    "apply_rules",
    "continuous",
    "negative_mask",
    "paper",
    "patchwork",
    "register_family",
    "rule_set",
    "source_points",
    "tested_families",
    "tested_rules",
]
