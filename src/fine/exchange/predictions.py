"""Scores the answers of any program, in any language, to exported puzzles.

predictions = evaluate_predictions("answers.csv", "out.npz")
print(predictions.accuracy, predictions.interval, predictions.mistakes)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fine.errors import FineError
from fine.evaluation.metrics import Scored
from fine.exchange.answer_key import AnswerKey
from fine.exchange.formats import read_key
from fine.io.tables import read_table
from fine.puzzles import KINDS, Puzzles

ALL_KINDS = (*KINDS, "no answer")
"""What an answer can be."""
_NONE = len(KINDS)
_MEANINGS = {
    "blind": "a guess",
    "right object, rule ignored": "a guess among the right objects",
    "pixels": "a least-squares map between pixels",
    "oracle": "knows all rules and looks up which one it is",
}


class Level(NamedTuple):
    """An accuracy to compare with."""

    name: str
    share: float
    meaning: str


@dataclass(frozen=True, eq=False)
class Predictions(Scored):
    """Answers of a program, and how good they are.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=40)
        >>> always_a = {number: "A" for number in range(40)}
        >>> predictions = fine.evaluate_predictions(always_a, task.test_puzzles())
        >>> low, high = predictions.interval
        >>> low < 0.25 < high
        True
    """

    key: AnswerKey
    """What would be right."""
    chosen: NDArray[np.int64]
    """(n,): the place of the choice that was taken; −1 where there is no answer."""

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n,): 0 right, 1 wrong rule, 2 wrong object, 3 both wrong, 4 no answer."""
        taken = np.take_along_axis(self.key.kinds, self.chosen[:, None].clip(min=0), axis=1)[:, 0]
        return np.where(self.chosen < 0, _NONE, taken)

    @property
    def asked(self) -> list[tuple[str, list[int]]]:
        """Of each puzzle the hidden rule, in words, and the kinds of its choices in their order."""
        return list(zip(self.key.rules, self.key.kinds.tolist(), strict=True))

    @property
    def mistakes(self) -> dict[str, float]:
        """Share of all puzzles with each kind of mistake."""
        return {ALL_KINDS[kind]: float((self.kinds == kind).mean()) for kind in range(1, _NONE + 1)}

    def levels(self) -> list[Level]:
        """Chance, and the controls that were measured when the puzzles were exported."""
        chances = dict(self.key.about.get("chance", {}))
        controls = dict(self.key.about.get("controls", {}))
        first = f", on the first {controls.pop('puzzles', 0):,.0f} of them"
        levels = [(name, share, "") for name, share in chances.items()]
        levels += [(name, share, first) for name, share in controls.items()]
        return [
            Level(name, float(share), _MEANINGS.get(name, "") + where)
            for name, share, where in levels
        ]

    def by_rule(self) -> list[dict[str, Any]]:
        """For every hidden rule: how many puzzles, and the share of each kind of answer."""
        members: dict[tuple[str, str], list[int]] = {}
        rules = zip(self.key.families, self.key.rules, strict=True)
        for rule, kind in zip(rules, self.kinds.tolist(), strict=True):
            members.setdefault(rule, []).append(kind)
        rows = []
        for (family, name), kinds in members.items():
            row: dict[str, Any] = {"family": family, "rule": name, "puzzles": len(kinds)}
            for number, kind in enumerate(ALL_KINDS):
                row[kind] = round(kinds.count(number) / len(kinds), 4)
            rows.append(row)
        return rows

    def summary(self) -> dict[str, Any]:
        """All of it as plain numbers, for a result file."""
        return {
            "accuracy": round(self.accuracy, 5),
            "interval": [round(bound, 5) for bound in self.interval],
            "puzzles": len(self.kinds),
            "mistakes": {name: round(share, 5) for name, share in self.mistakes.items()},
            "by_rule": self.by_rule(),
            "about": dict(self.key.about),
        }


def evaluate_predictions(
    answers: str | Path | Mapping[int, str], puzzles: str | Path | Puzzles
) -> Predictions:
    """Score the answers of any program.

    Args:
        answers: A CSV file with the columns ``number`` and ``answer``, which is a letter; or a
            mapping from numbers to letters. An empty answer counts as wrong.
        puzzles: What `export_puzzles` or `fine puzzles --export` has written; or puzzles in
            memory, numbered from 0.

    Examples:
        >>> import fine, numpy as np
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20)
        >>> fine.export_puzzles(task, "puzzles.npz", count=10)
        >>> right = np.load("puzzles.npz")["answer"]
        >>> answers = {number: letter for number, letter in enumerate(right)}
        >>> fine.evaluate_predictions(answers, "puzzles.npz").accuracy
        1.0
    """
    key = AnswerKey.of(puzzles) if isinstance(puzzles, Puzzles) else read_key(Path(puzzles))
    if isinstance(answers, Mapping):
        given, name = {int(number): letter for number, letter in answers.items()}, "the answers"
    else:
        given, name = _read_answers(Path(answers)), str(answers)
    return Predictions(key, _places(given, key, name))


def _read_answers(path: Path) -> dict[int, str]:
    """Number -> what was answered."""
    try:
        rows = read_table(path)
    except FileNotFoundError:
        raise FineError(f"{path} is not there: give a CSV file of answers") from None
    except (OSError, ValueError) as problem:
        raise FineError(f"{path} cannot be read as CSV ({problem})") from problem
    names = [(name or "").strip() for name in (rows[0] if rows else {})]
    if not {"number", "answer"} <= {*names}:
        raise FineError(
            f"{path} has the columns {', '.join(filter(None, names)) or '(none)'}: expected "
            "'number' and 'answer', with a row for every puzzle"
        )
    answers: dict[int, str] = {}
    for line, row in enumerate(rows, start=2):
        values = dict(zip(names, row.values(), strict=False))
        try:
            number = int(values["number"])
        except (TypeError, ValueError):
            raise FineError(
                f"line {line} of {path} has the number '{values['number']}': expected a whole one"
            ) from None
        if number in answers:
            raise FineError(f"{path} answers puzzle {number} twice: give one answer to each")
        answers[number] = values["answer"] or ""
    return answers


def _places(answers: Mapping[int, str], key: AnswerKey, name: str) -> NDArray[np.int64]:
    """The place of each answer, in the order of the puzzles."""
    numbers = key.numbers.tolist()
    for number in numbers:
        if number not in answers:
            raise FineError(
                f"{name}: puzzle {number} has no row; give one for every puzzle, with an empty "
                "answer where there is none"
            )
    if len(answers) > len(numbers):
        other = next(number for number in answers if number not in set(numbers))
        raise FineError(
            f"{name}: there is no puzzle {other} among the {len(numbers):,} that were exported"
        )
    return np.array([_place(answers[number], number, key.letters, name) for number in numbers])


def _place(answer: str, number: int, letters: str, name: str) -> int:
    letter = str(answer).strip().upper()
    if not letter:
        return -1
    if len(letter) > 1 or letter not in letters:
        raise FineError(
            f"{name}: '{answer}' is no answer to puzzle {number}; give a letter from {letters[0]} "
            f"to {letters[-1]}"
        )
    return letters.index(letter)
