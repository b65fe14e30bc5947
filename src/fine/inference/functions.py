"""The function behind an example: known by its rule, or composed by a model.

    f = fine.function(x, y)                        # see rule_functions.py
    f = fine.function(x, y, model=model)           # see composed_functions.py
    fine.explain(model, x, y)                      # the rules that do most nearly the same

Images are whatever `read_image` takes. A tensor (b, channels, size, size) is b images, from which b
functions are composed.
"""

from collections.abc import Iterable
from typing import overload

import torch
from torch import Tensor

from fine.evaluation.ood import residual_share
from fine.inference.composed_functions import Function, exact_function
from fine.inference.function_hints import embed_hints, only_image, read_single
from fine.inference.naming import NamedRule, with_first
from fine.inference.puzzle_images import Hints, ReadPuzzle, hint_lists
from fine.inference.reading import Source
from fine.inference.rule_functions import RuleFunction, rule_function
from fine.inference.solving import list_choices, solve
from fine.models.embedding_functions import compose_function
from fine.models.finite import check_finite
from fine.models.paper import FINE


@overload
def function(x: Hints, y: Hints, *, model: None = None, anyway: bool = False) -> RuleFunction: ...
@overload
def function(x: Hints, y: Hints, *, model: FINE, anyway: bool = False) -> Function: ...
@torch.no_grad()
def function(
    x: Hints, y: Hints, *, model: FINE | None = None, anyway: bool = False
) -> Function | RuleFunction:
    """The function that takes x to y; of several hints, the one that best takes each x to its y.

    Without a model it is known by its rule, with parameters found from the pixels at full size; an
    example that no known rule explains is refused. With a model it is composed on embeddings, which
    needs no known rule.

    Args:
        x: An image, as `read_image` takes it; or several, one for each hint.
        y: What became of it, or of each of them.
        model: A model that composes functions, as `load` returns it.
        anyway: Whether to take the nearest rule if none explains the example.

    Examples:
        >>> import fine
        >>> f = fine.function("before.jpg", "after.jpg")  # doctest: +SKIP
        >>> f.draw("new.jpg").save("answer.jpg")  # doctest: +SKIP
        >>> model = fine.load("all-glyphs")
        >>> f = fine.function("x.png", "y.png", model=model)  # doctest: +SKIP
        >>> x, y = ["x1.png", "x2.png"], ["y1.png", "y2.png"]  # two hints
        >>> f = fine.function(x, y, model=model)  # doctest: +SKIP
    """
    before, after = hint_lists(x, y)
    if model is None:
        return rule_function(before, after, anyway=anyway)
    read = read_single(before, after)
    xs, ys = (before, after) if read is None else read.pairs  # each file once
    hints = embed_hints(xs, ys, model)
    composed = compose_function(model, hints.x, hints.y)
    check_finite(composed.vector())

    def find_exact(number: int) -> RuleFunction:
        if read is None:  # of several functions the images are known as the model sees them
            sides = (hints.inputs, hints.outputs)
            return exact_function(*([images[number] for images in side] for side in sides))
        return exact_function(
            [only_image(one) for one in before], [only_image(one) for one in after]
        )

    return Function(model, composed, hints.inputs, hints.outputs, find_exact, read)


@torch.inference_mode()
def explain(
    model: FINE,
    x: Hints,
    y: Hints,
    new: Source | None = None,
    choices: Iterable[Source] = (),
    *,
    rules: str = "all",
    k: int = 3,
    verify: bool = True,
) -> tuple[NamedRule, ...]:
    """The ``k`` rules of a set that do most nearly what made y from x, the nearest first.

    With ``new`` and its choices, the images are read as `solve` reads them, and the rule that
    decides its answer is the first.

    Args:
        model: A model that composes functions, as `load` returns it.
        x: The image of the example, anything that `read_image` takes; or several, one for each
            hint.
        y: What became of it, or of each of them.
        new: The new image of a puzzle, if the rule of its answer is asked for.
        choices: What may become of that one.
        rules: The set of rules to name, as `rule_set` takes it.
        k: How many of them.
        verify: Whether a rule that takes the pixels of x to those of y is named first.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> x, y, *rest = puzzles.render([0]).images[0]
        >>> fine.explain(model, x, y, k=1)[0].family
        'reflection'
    """
    if new is None:
        return function(x, y, model=model).nearest(rules=rules, k=k, verify=verify)
    puzzle = ReadPuzzle.read(x, y, new, list_choices(choices))
    xs, ys = puzzle.pairs
    read_new, *read_choices = puzzle.images[2 * puzzle.hints :]
    answer = solve(model, xs, ys, read_new, read_choices, verify=verify)
    return explain_found(model, xs, ys, answer.rule, rules=rules, k=k, verify=verify)


def explain_found(
    model: FINE,
    x: Hints,
    y: Hints,
    found: NamedRule | None,
    *,
    rules: str = "all",
    k: int = 3,
    verify: bool = True,
) -> tuple[NamedRule, ...]:
    """Like `explain`, with a rule that was found already as the first.

    It is not looked for again: that could end a hair beside it.
    """
    names = explain(model, x, y, rules=rules, k=k, verify=verify and found is None)
    return with_first(found, names)[:k]


@torch.no_grad()
def residual(x: Hints, y: Hints, *, model: FINE) -> Tensor:  # (b,)
    """What the model leaves of y, as a share of it, over all hints together."""
    hints = embed_hints(x, y, model)
    share = residual_share(model, torch.cat(hints.x, dim=2), torch.cat(hints.y, dim=2))
    return check_finite(share)
