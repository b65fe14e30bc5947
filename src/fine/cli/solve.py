"""`fine solve`"""

from dataclasses import asdict, dataclass, replace
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
    Drawn,
    NamedRule,
    TextAnswer,
    draw_answer,
    solve,
    solve_text,
)
from fine.inference.functions import explain_found
from fine.inference.input_sheet import input_sheet
from fine.inference.puzzle_images import ReadPuzzle
from fine.io.files import written_whole
from fine.models.paper import FINE
from fine.pretrained import DEFAULT, load, load_calibration
from fine.rules import rule_set


@dataclass(frozen=True, eq=False)
class Solution:
    """What is found out about a puzzle; what was not asked for is None or empty."""

    puzzle: ReadPuzzle
    seen: Tensor
    """(n, channels, size, size) in 0..1: the images as the model sees them."""
    answer: Answer | None
    calibrated: bool
    """Whether its probabilities are calibrated."""
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
    hint: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="X Y …")] = ()
    """Further hints: pairs of images, of which each y was made from its x by the same rule."""
    text: Annotated[tuple[str, ...], tyro.conf.arg(metavar="X Y NEW")] = ()
    """Instead of images, three strings of letters, such as abc abd mmnnpp. The answer is written,
    and all rules are ranked."""
    model: TrainedModel = ""
    """A bundled pretrained model, a run folder, or an exported folder; by default the one for
    anyone's images, or all-strings with --text."""
    explain: bool = False
    """Also name the rules that do what the composed function does."""
    candidates: Annotated[str, tyro.conf.arg(metavar="RULES")] = ""
    """Also draw the answer: apply every rule of these (affine, all, square, rotation+scale …) to
    the new image, and take the best."""
    model_only: bool = False
    """Let the network answer alone: no rule is tried on the pixels."""
    allow_none: bool = False
    """Answer "none of these" if the hint shows no rule that the model knows, or if no choice fits;
    `fine calibrate` the model first."""
    out: Path | None = None
    """Write the drawn answer to this PNG file."""
    show_input: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the images to this PNG file as they were read, and below as the model sees them."""
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
        if self.show_input is not None:
            with written_whole(self.show_input) as temporary:
                input_sheet(solution.puzzle, solution.seen).save(temporary, format="PNG")
        if self.json:
            print_json(self._as_json(solution))
        else:
            self._show(solution)

    @property
    def _model(self) -> str:
        return self.model or ("all-strings" if self.text else DEFAULT)

    def _check(self) -> None:
        """Refuse what cannot be solved before a model is loaded."""
        if len(self.images) < 3:
            raise FineError(
                f"{len(self.images)} images are given: expected x, y, a new one, and two or more "
                "choices"
            )
        choices = len(self.images) - 3
        if choices == 1 or (choices == 0 and not self.candidates):
            given = "one choice is" if choices else "no choices are"
            raise FineError(
                f"{given} given: expected at least 2, or none and --candidates affine to draw the "
                "answer"
            )
        if self.candidates:
            rule_set(self.candidates)  # refuses a name that is not one
        if self.out is not None and not self.candidates:
            raise FineError(
                "--out is for an answer that is drawn: say from which rules, such as --candidates "
                "affine"
            )
        for file in (self.out, self.show_input):
            if file is not None and file.suffix.lower() != ".png":
                raise FineError(
                    f"an image cannot be drawn to '{file.name}': the name must end in .png"
                )
        if len(self.hint) % 2:
            raise FineError(
                f"--hint has {len(self.hint)} images: expected pairs, an x and its y each"
            )

    def _solve(self, model: FINE) -> Solution:
        x, y, new, *choices = self.images
        first, then = [x, *self.hint[0::2]], [y, *self.hint[1::2]]
        puzzle = ReadPuzzle.read(first, then, new, choices)  # each file once, for all that follows
        calibration = load_calibration(self._model) if choices else None
        if choices and calibration is None and self.allow_none:
            raise FineError(
                f"{self._model} has no {FILE}, which --allow-none needs: make one with `fine "
                "calibrate`"
            )
        xs, ys = puzzle.pairs
        shown, *options = puzzle.images[2 * puzzle.hints :]
        verify = not self.model_only
        answer = drawn = None
        if choices:
            answer = solve(model, xs, ys, shown, options, verify=verify, calibration=calibration)
        if self.candidates:
            drawn = draw_answer(model, xs, ys, shown, rules=self.candidates, verify=verify)
        rules: tuple[NamedRule, ...] = ()
        if self.explain:
            found = answer.rule if answer else None
            rules = explain_found(model, xs, ys, found, verify=verify)
        return Solution(
            puzzle=puzzle,
            seen=puzzle.seen(model),
            answer=answer,
            calibrated=calibration is not None,
            none=answer is not None and bool(answer.doubts) and self.allow_none,
            rules=rules,
            drawn=drawn,
        )

    def _as_json(self, solution: Solution) -> dict[str, Any]:
        content: dict[str, Any] = {"model": self._model}
        answer, drawn = solution.answer, solution.drawn
        if answer is not None:
            chosen = str(self.images[3 + answer.index])
            content["answer"] = {"index": answer.index, "letter": answer.letter, "file": chosen}
            content["probabilities"] = list(answer.probabilities)
            content["model_probabilities"] = list(answer.model_probabilities)
            content["verified"] = answer.verified
            content["rule"] = None if answer.rule is None else _rule_as_json(answer.rule)
            content["doubts"] = list(answer.doubts)
            if solution.calibrated or answer.verified:
                content["confidence"] = answer.probability
        if solution.none:
            content["answer"] = None
        if solution.rules:
            content["rules"] = [_rule_as_json(rule) for rule in solution.rules]
        if drawn is not None:
            file, rules = str(self.out) if self.out else None, drawn.rules[:10]
            content["drawn"] = {"file": file, "rules": [_rule_as_json(rule) for rule in rules]}
        return content

    def _show(self, solution: Solution) -> None:
        answer = solution.answer
        chosen = None if answer is None or solution.none else answer.index
        seen = solution.seen[2 * (solution.puzzle.hints - 1) :].mul(255).round().byte().cpu()
        show_solved(seen, console=console, chosen=chosen)
        if answer is not None:
            self._show_answer(answer, solution, chosen)
        if solution.rules:
            say("", "the composed function does nearly the same as")
            _list_rules(solution.rules)
        if solution.drawn is not None:
            say("", f"the answer, if it is one of the {self.candidates} rules")
            _list_rules(solution.drawn.rules[:3])
            if self.out is not None:
                say(f"drawn to {self.out}")
        if self.show_input is not None:
            say(f"what the model sees: {self.show_input}")

    def _show_answer(self, answer: Answer, solution: Solution, chosen: int | None) -> None:
        names = [printable(path.name) for path in self.images[3:]]
        for number, probability in enumerate(answer.probabilities):
            name = f"{choice_name(number)}  {names[number]:{max(map(len, names))}}"
            show_bar(name, probability, console=console, chosen=number == chosen)
        sure = ""
        if solution.calibrated or answer.verified:
            sure = f", {answer.probability:.1%} sure"
        file = self.images[3 + answer.index]
        said = "none of these" if solution.none else f"{answer.letter}, {file}{sure}"
        say(f"answer: {said}")
        if answer.verified and answer.rule is not None:
            say(f"verified: {answer.rule.label} takes x to y, and new to this choice alone")
            if answer.model_index != answer.index:
                say(f"the network alone would take {choice_name(answer.model_index)}")
        elif answer.rule is not None:
            say(f"rule: {answer.rule.label} takes x to y")
        for doubt in answer.doubts:
            say(f"doubt: {doubt}")

    def _solve_text(self) -> None:
        others = (self.images, self.hint, self.explain, self.candidates, self.out, self.show_input)
        if any(others):
            raise FineError(
                "--text solves strings: give no images with it, and none of --hint, --explain, "
                "--candidates, --out and --show-input"
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


def _rule_as_json(rule: NamedRule) -> dict[str, Any]:
    content = asdict(replace(rule, parts=()))
    del content["parts"]
    return content


def _list_rules(rules: tuple[NamedRule, ...]) -> None:
    width = max(len(rule.label) for rule in rules)
    for number, rule in enumerate(rules):
        show_bar(f"{rule.label:{width}}", rule.probability, console=console, chosen=number == 0)
