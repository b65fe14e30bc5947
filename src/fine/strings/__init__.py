"""Letter strings: abc becomes abd, what does mmnnpp become? Puzzles over texts, for the same models as puzzles over pictures.

puzzles = Task.preset("strings", rules="all").test_puzzles()
puzzles.texts([0])                         # [("abc", "abd", "mnp", "mnq", …)]: x, y, x' and the choices A B C D
config = RunConfig(task=Task.preset("strings", rules="all"), settings=SETTINGS)
"""

from typing import Any

from fine.strings.alphabet import ALPHABET, check_text, grid
from fine.strings.puzzles import StringPuzzles, draw_string_puzzles
from fine.strings.rules import StringRules, string_rules, under
from fine.strings.source import are_strings, load_strings

SETTINGS: dict[str, Any] = {
    "encoder": "strings",
    "standardise": "none",
    "symmetry": "none",
    "code": 50,
    "columns": 1,
    "slots": 16,
    "keys": "shared",
    "ridge": 0.01,
    "readings": 2,
}
"""Settings of `fine` for strings, chosen on strings of training that were held back (docs/log.md)."""

__all__ = [
    "ALPHABET",
    "SETTINGS",
    "StringPuzzles",
    "StringRules",
    "are_strings",
    "check_text",
    "draw_string_puzzles",
    "grid",
    "load_strings",
    "string_rules",
    "under",
]
