"""`fine solve`"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from fine.cli.terminal import OptionalPath, console, say
from fine.drawing.terminal import choice_name, show_bar, show_solved
from fine.errors import FineError
from fine.functions.calibration import FILE
from fine.models.fine import FINE
from fine.pretrained import load, load_calibration
from fine.rules import rule_set
from fine.solving import Answer, Drawn, NamedRule, draw_answer, explain, solve, solve_text
from fine.solving.answers import prepared
from fine.solving.judging import Verdict, judge
from fine.storage import written_whole
from fine.strings import check_text


@dataclass(frozen=True)
class Solve:
    """Solve a puzzle of your own: x, what became of it, another picture, and the choices for what becomes of that."""

    pictures: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="X Y NEW CHOICE …")] = ()
    """Picture files: x, y, the new one, and two or more choices; without choices, see --candidates."""
    text: Annotated[tuple[str, ...], tyro.conf.arg(metavar="X Y NEW")] = ()
    """Instead of pictures, three strings of letters: abc abd mmnnpp. The answer is written, and all rules are ranked."""
    model: Annotated[str, tyro.conf.arg(metavar="STR")] = ""
    """A model of the package, a run folder, or an exported folder; by default all-glyphs, or all-strings with --text."""
    explain: bool = False
    """Also name the rules that do what the composed function does."""
    candidates: str = ""
    """Also draw the answer: apply every rule of these (affine, all, rotation+scale …) to the new picture, take the best."""
    allow_none: bool = False
    """Answer "none of these" where the hint shows no rule the model knows, or no choice fits; `fine calibrate` comes first."""
    out: OptionalPath = None
    """Write the drawn answer to this PNG file."""
    json: bool = False
    """Print one JSON object instead of text and pictures."""

    def run(self) -> None:
        if self.text:
            self._solve_text()
            return
        self._check()
        model = load(self._model)
        x, y, new, *choices = self.pictures
        verdict = self._judged(model) if choices else None
        answer = verdict.answer if verdict else solve(model, x, y, new, choices) if choices else None
        rules = explain(model, x, y) if self.explain else ()
        drawn = draw_answer(model, x, y, new, rules=self.candidates) if self.candidates else None
        if drawn is not None and self.out is not None:
            with written_whole(self.out) as temporary:
                drawn.image.save(temporary, format="PNG")
        if self.json:
            print(json.dumps(self._as_json(answer, verdict, rules, drawn), indent=2, ensure_ascii=False))
        else:
            self._show(model, answer, verdict, rules, drawn)

    def _judged(self, model: FINE) -> Verdict | None:
        """The answer with what speaks against it; None if the model has not been calibrated."""
        calibration = load_calibration(self._model)
        if calibration is None:
            if self.allow_none:
                raise FineError(f"{self._model} has no {FILE}, which --allow-none needs: make one with `fine calibrate`")
            return None
        x, y, new, *choices = self.pictures
        return judge(model, calibration, x, y, new, choices)

    @property
    def _model(self) -> str:
        return self.model or ("all-strings" if self.text else "all-glyphs")

    def _solve_text(self) -> None:
        if self.pictures or self.explain or self.candidates or self.out is not None:
            raise FineError("--text solves strings: give no pictures with it, and none of --explain, --candidates and --out")
        if len(self.text) != 3:
            raise FineError(f"{len(self.text)} strings are given: expected 3, such as --text abc abd mmnnpp")
        x, y, new = (check_text(text, name) for text, name in zip(self.text, ("x", "y", "new"), strict=True))
        answer = solve_text(load(self._model), x, y, new)
        if self.json:
            content = {"model": self._model, "answer": answer.text, "probability": answer.probability}
            print(json.dumps({**content, "rules": [asdict(rule) for rule in answer.rules]}, indent=2))
            return
        say(f"{x} → {y}, so {new} → {answer.text}\n")
        width, longest = (max(len(getattr(rule, name)) for rule in answer.rules) for name in ("rule", "answer"))
        for rule in answer.rules:
            name = f"{'=' if rule.explains else ' '} {rule.rule:{width}}  {rule.answer:{longest}}"
            show_bar(name, rule.probability, console=console, chosen=rule.answer == answer.text)
        known = any(rule.explains for rule in answer.rules)
        say(f"\n= makes {y} of {x}: these come first" if known else f"\nno rule makes {y} of {x}: the most probable is taken")

    def _check(self) -> None:
        """Refuse what cannot be solved before a model is loaded."""
        if len(self.pictures) < 3:
            raise FineError(f"{len(self.pictures)} pictures are given: expected x, y, a new one, and two or more choices")
        choices = len(self.pictures) - 3
        if choices == 1 or (choices == 0 and not self.candidates):
            raise FineError(
                f"{choices} choices are given: expected at least 2, or none and --candidates affine to draw the answer"
            )
        if self.candidates:
            rule_set(self.candidates)  # refuses a name that is not one
        if self.out is not None and not self.candidates:
            raise FineError("--out is for an answer that is drawn: say from which rules, such as --candidates affine")
        if self.out is not None and self.out.suffix.lower() != ".png":
            raise FineError(f"the answer cannot be drawn to '{self.out.name}': the name must end in .png")

    def _as_json(
        self, answer: Answer | None, verdict: Verdict | None, rules: tuple[NamedRule, ...], drawn: Drawn | None
    ) -> dict[str, Any]:
        content: dict[str, Any] = {"model": self._model}
        if answer is not None:
            chosen = str(self.pictures[3 + answer.index])
            content["answer"] = {"index": answer.index, "letter": answer.letter, "file": chosen}
            content["probabilities"] = list(answer.probabilities)
        if verdict is not None:
            content["confidence"], content["doubts"] = verdict.confidence, list(verdict.doubts)
            if verdict.none and self.allow_none:
                content["answer"] = None
        if rules:
            content["rules"] = [asdict(rule) for rule in rules]
        if drawn is not None:
            content["drawn"] = {
                "file": str(self.out) if self.out else None,
                "rules": [asdict(rule) for rule in drawn.rules[:10]],
            }
        return content

    def _show(
        self,
        model: FINE,
        answer: Answer | None,
        verdict: Verdict | None,
        rules: tuple[NamedRule, ...],
        drawn: Drawn | None,
    ) -> None:
        seen = prepared(model, self.pictures).mul(255).round().byte().cpu()
        refused = verdict is not None and verdict.none and self.allow_none
        show_solved(seen, console=console, chosen=None if answer is None or refused else answer.index)
        if answer is not None:
            names = [path.name for path in self.pictures[3:]]
            for number, probability in enumerate(answer.probabilities):
                name = f"{choice_name(number)}  {names[number]:{max(map(len, names))}}"
                show_bar(name, probability, console=console, chosen=number == answer.index and not refused)
            sure = "" if verdict is None else f", {verdict.confidence:.0%} sure"
            say("answer: none of these" if refused else f"answer: {answer.letter}, {self.pictures[3 + answer.index]}{sure}")
        for doubt in verdict.doubts if verdict is not None else ():
            say(f"doubt: {doubt}")
        if rules:
            say("\nthe composed function does nearly the same as")
            _list_rules(rules)
        if drawn is not None:
            say(f"\nthe answer, if it is one of the {self.candidates} rules")
            _list_rules(drawn.rules[:3])
            if self.out is not None:
                say(f"drawn to {self.out}")


def _list_rules(rules: tuple[NamedRule, ...]) -> None:
    width = max(len(rule.label) for rule in rules)
    for number, rule in enumerate(rules):
        show_bar(f"{rule.label:{width}}", rule.probability, console=console, chosen=number == 0)
