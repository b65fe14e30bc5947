"""`fine solve`"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from torch import Tensor

from fine.cli.arguments import options
from fine.cli.options import TrainedModel
from fine.cli.terminal import console, print_json, say
from fine.drawing.terminal import choice_name, show_bar, show_solved
from fine.errors import FineError, printable
from fine.evaluation.calibration import FILE
from fine.images.letters import check_text
from fine.inference import (
    Answer,
    CalibratedAnswer,
    Drawn,
    NamedRule,
    PuzzleImages,
    TextAnswer,
    draw_answer,
    explain,
    judge,
    solve,
    solve_text,
)
from fine.io.files import written_whole
from fine.models.paper import FINE
from fine.pretrained import load, load_calibration
from fine.rules import rule_set


@dataclass(frozen=True, eq=False)
class Solution:
    """What is found out about a puzzle; what was not asked for is None or empty."""

    seen: Tensor
    """(3 + k, channels, size, size) in 0..1: the images as the model sees them."""
    answer: Answer | None
    judged: CalibratedAnswer | None
    none: bool
    """Whether the answer is "none of these"."""
    rules: tuple[NamedRule, ...]
    drawn: Drawn | None


@options()
class Solve:
    """Solve a puzzle of your own: x became y, so which of the choices does another image become?"""

    images: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="X Y NEW CHOICE …")
    ] = ()
    """Image files: x, y, the new one, and two or more choices; or no choices, and --candidates."""
    text: Annotated[tuple[str, ...], tyro.conf.arg(metavar="X Y NEW")] = ()
    """Instead of images, three strings of letters, such as abc abd mmnnpp. The answer is written,
    and all rules are ranked."""
    model: TrainedModel = ""
    """A bundled pretrained model, a run folder, or an exported folder; by default all-glyphs, or
    all-strings with --text."""
    explain: bool = False
    """Also name the rules that do what the composed function does."""
    candidates: Annotated[str, tyro.conf.arg(metavar="RULES")] = ""
    """Also draw the answer: apply every rule of these (affine, all, rotation+scale …) to the new
    image, and take the best."""
    allow_none: bool = False
    """Answer "none of these" if the hint shows no rule that the model knows, or if no choice fits;
    `fine calibrate` the model first."""
    out: Path | None = None
    """Write the drawn answer to this PNG file."""
    json: bool = False
    """Print one JSON object instead of text and images."""

    def run(self) -> None:
        if self.text:
            self._solve_text()
            return
        self._check()
        solution = self._solve(load(self._model))
        if solution.drawn is not None and self.out is not None:
            with written_whole(self.out) as temporary:
                solution.drawn.image.save(temporary, format="PNG")
        if self.json:
            print_json(self._as_json(solution))
        else:
            self._show(solution)

    @property
    def _model(self) -> str:
        return self.model or ("all-strings" if self.text else "all-glyphs")

    def _check(self) -> None:
        """Refuse what cannot be solved before a model is loaded."""
        if len(self.images) < 3:
            raise FineError(
                f"{len(self.images)} images are given: expected x, y, a new one, and two or more "
                "choices"
            )
        choices = len(self.images) - 3
        if choices == 1 or (choices == 0 and not self.candidates):
            raise FineError(
                f"{choices} choices are given: expected at least 2, or none and --candidates "
                "affine to draw the answer"
            )
        if self.candidates:
            rule_set(self.candidates)  # refuses a name that is not one
        if self.out is not None and not self.candidates:
            raise FineError(
                "--out is for an answer that is drawn: say from which rules, such as --candidates "
                "affine"
            )
        if self.out is not None and self.out.suffix.lower() != ".png":
            raise FineError(
                f"the answer cannot be drawn to '{self.out.name}': the name must end in .png"
            )

    def _solve(self, model: FINE) -> Solution:
        x, y, new, *choices = self.images
        puzzle = PuzzleImages.read(x, y, new, choices)  # each file once, for all that follows
        calibration = load_calibration(self._model) if choices else None
        if choices and calibration is None and self.allow_none:
            raise FineError(
                f"{self._model} has no {FILE}, which --allow-none needs: make one with `fine "
                "calibrate`"
            )
        answer = judged = drawn = None
        if calibration is not None:
            judged = judge(model, calibration, *puzzle)
            answer = judged.answer
        elif choices:
            answer = solve(model, *puzzle)
        if self.candidates:
            drawn = draw_answer(model, puzzle.x, puzzle.y, puzzle.new, rules=self.candidates)
        return Solution(
            seen=puzzle.prepared(model),
            answer=answer,
            judged=judged,
            none=judged is not None and judged.none and self.allow_none,
            rules=explain(model, puzzle.x, puzzle.y) if self.explain else (),
            drawn=drawn,
        )

    def _as_json(self, solution: Solution) -> dict[str, Any]:
        content: dict[str, Any] = {"model": self._model}
        answer, judged, drawn = solution.answer, solution.judged, solution.drawn
        if answer is not None:
            chosen = str(self.images[3 + answer.index])
            content["answer"] = {"index": answer.index, "letter": answer.letter, "file": chosen}
            content["probabilities"] = list(answer.probabilities)
        if judged is not None:
            content["confidence"], content["doubts"] = judged.confidence, list(judged.doubts)
        if solution.none:
            content["answer"] = None
        if solution.rules:
            content["rules"] = [asdict(rule) for rule in solution.rules]
        if drawn is not None:
            file, rules = str(self.out) if self.out else None, drawn.rules[:10]
            content["drawn"] = {"file": file, "rules": [asdict(rule) for rule in rules]}
        return content

    def _show(self, solution: Solution) -> None:
        answer, judged = solution.answer, solution.judged
        chosen = None if answer is None or solution.none else answer.index
        seen = solution.seen.mul(255).round().byte().cpu()
        show_solved(seen, console=console, chosen=chosen)
        if answer is not None:
            names = [printable(path.name) for path in self.images[3:]]
            for number, probability in enumerate(answer.probabilities):
                name = f"{choice_name(number)}  {names[number]:{max(map(len, names))}}"
                show_bar(name, probability, console=console, chosen=number == chosen)
            sure = "" if judged is None else f", {judged.confidence:.0%} sure"
            file = self.images[3 + answer.index]
            said = "none of these" if solution.none else f"{answer.letter}, {file}{sure}"
            say(f"answer: {said}")
        for doubt in judged.doubts if judged is not None else ():
            say(f"doubt: {doubt}")
        if solution.rules:
            say("", "the composed function does nearly the same as")
            _list_rules(solution.rules)
        if solution.drawn is not None:
            say("", f"the answer, if it is one of the {self.candidates} rules")
            _list_rules(solution.drawn.rules[:3])
            if self.out is not None:
                say(f"drawn to {self.out}")

    def _solve_text(self) -> None:
        if self.images or self.explain or self.candidates or self.out is not None:
            raise FineError(
                "--text solves strings: give no images with it, and none of --explain, "
                "--candidates and --out"
            )
        if len(self.text) != 3:
            raise FineError(
                f"{len(self.text)} strings are given: expected 3, such as --text abc abd mmnnpp"
            )
        for text, name in zip(self.text, ("x", "y", "new"), strict=True):
            check_text(text, name)
        answer = solve_text(load(self._model), *self.text)
        if not self.json:
            self._show_text(answer)
            return
        content = {"model": self._model, "answer": answer.text, "probability": answer.probability}
        rules = [asdict(rule) for rule in answer.rules]
        print_json({**content, "rules": rules})

    def _show_text(self, answer: TextAnswer) -> None:
        x, y, new = self.text
        say(f"{x} → {y}, so {new} → {answer.text}", "")
        width = max(len(rule.rule) for rule in answer.rules)
        longest = max(len(rule.answer) for rule in answer.rules)
        for rule in answer.rules:
            name = f"{'=' if rule.explains else ' '} {rule.rule:{width}}  {rule.answer:{longest}}"
            chosen = rule.answer == answer.text
            show_bar(name, rule.probability, console=console, chosen=chosen)
        if any(rule.explains for rule in answer.rules):
            say("", f"= makes {y} of {x}: these come first")
        else:
            say("", f"no rule makes {y} of {x}: the most probable is taken")


def _list_rules(rules: tuple[NamedRule, ...]) -> None:
    width = max(len(rule.label) for rule in rules)
    for number, rule in enumerate(rules):
        show_bar(f"{rule.label:{width}}", rule.probability, console=console, chosen=number == 0)
