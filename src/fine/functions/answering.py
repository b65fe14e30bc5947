"""Any question answered by functions: applied forwards, undone, one after another, or to the pairs they should explain.

    logits = Answering(model, Question("chain", hints=2))(batch.pictures)      # (b, 2·hints + 5, …) -> (b, 4)

Nothing is learned for it. A FINE composes its functions on codes, the oracle looks its rules up on pixels; any other model
answers what can be asked as a plain puzzle, and that is one hint, and backwards with the hint turned round.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.functions.maps import Map, compose_map
from fine.models.fine import FINE
from fine.models.limits import Oracle
from fine.questions import Question


class Answering(nn.Module):
    """A model and a question, called like a model."""

    def __init__(self, model: nn.Module, question: Question):
        super().__init__()
        self.model, self.question = model, question
        turned = question.name == "backwards" and question.by == "turned"
        if isinstance(model, FINE | Oracle) or turned or (question.name == "hints" and question.hints == 1):
            return
        remedy = "ask --by turned" if question.name == "backwards" else "use a FINE, or oracle"
        raise FineError(f"{type(model).__name__} composes no function, so it cannot be asked '{question}': {remedy}")

    def forward(self, pictures: Tensor) -> Tensor:
        """Hints, x' or y', and k choices -> logits (b, k)."""
        if self.question.name == "backwards" and self.question.by == "turned":
            return self.model(pictures[:, [1, 0, *range(2, pictures.shape[1])]])
        if isinstance(self.model, FINE):
            return _by_codes(self.model, self.question, pictures)
        if isinstance(self.model, Oracle):
            return _by_rules(self.model, self.question, pictures)
        return self.model(pictures)


class MostAlike(nn.Module):
    """Takes the choice that is most like y', as if f did nothing: more than chance, for what f does may be little."""

    def __init__(self, model: FINE):
        super().__init__()
        self.model = model

    def forward(self, pictures: Tensor) -> Tensor:
        """A backwards puzzle x, y, y' and k choices -> logits (b, k)."""
        codes = self.model.encode(pictures[:, 2:], firsts=range(pictures.shape[1] - 2))
        return -self.model.distance(codes[:, 1:], codes[:, :1])


def _by_codes(model: FINE, question: Question, pictures: Tensor) -> Tensor:
    shown = 2 * question.hints
    if question.name == "backwards":
        return _backwards(model, question, pictures)
    if question.name == "odd-one-out":
        return _odd_by_codes(model, question, pictures)
    codes = model.encode(pictures, firsts=[min(place - place % 2, shown) for place in range(pictures.shape[1])])
    x, y = codes[:, 0:shown:2].unbind(1), codes[:, 1:shown:2].unbind(1)
    guess = codes[:, shown]
    if question.name == "hints":
        guess = compose_map(model, x, y)(guess)
    else:
        for one, two in zip(x, y, strict=True):
            guess = compose_map(model, [one], [two])(guess)
    return -model.distance(codes[:, shown + 1 :], guess[:, None])


def _odd_by_codes(model: FINE, question: Question, pictures: Tensor) -> Tensor:  # (b, 2 × hints, …) -> (b, hints)
    codes = model.encode(pictures, firsts=[place - place % 2 for place in range(pictures.shape[1])])
    x, y = codes[:, 0::2].unbind(1), codes[:, 1::2].unbind(1)
    return _oddness(x, y, partial(compose_map, model), model.distance)


Composer = Callable[[Sequence[Tensor], Sequence[Tensor]], Callable[[Tensor], Tensor]]


def _oddness(
    x: Sequence[Tensor], y: Sequence[Tensor], compose: Composer, distance: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:  # k of each -> (b, k)
    """How far each pair is from what the others agree on: what their function misses of it, less what it misses of themselves.

    Both are needed: of three pairs, the function of two that do not agree may be that of either.
    """
    logits = []
    for pair in range(len(x)):
        others = [other for other in range(len(x)) if other != pair]
        function = compose([x[other] for other in others], [y[other] for other in others])
        among = torch.stack([distance(function(x[other]), y[other]) for other in others]).sum(0)
        logits.append(distance(function(x[pair]), y[pair]) - among)
    return torch.stack(logits, dim=1)


def _backwards(model: FINE, question: Question, pictures: Tensor) -> Tensor:
    choices = pictures.shape[1] - 3
    # y' is seen as each choice is: if that is what it was made from, that choice is the first of its pair.
    shown = torch.cat((pictures, pictures[:, [2] * (choices - 1)]), dim=1)  # x, y, y', the choices, y' again
    own = list(range(3, 3 + choices))
    codes = model.encode(shown, firsts=[0, 0, own[0], *own, *own[1:]])
    function = compose_map(model, [codes[:, 0]], [codes[:, 1]])
    asked, given = codes[:, own], codes[:, [2, *range(3 + choices, shown.shape[1])]]  # (b, k, rows, columns) twice
    if question.by == "inverse":
        return -model.distance(asked, _each(function.inverse(), given))
    return -model.distance(given, _each(function, asked))


def _each(function: Map, codes: Tensor) -> Tensor:  # (b, k, rows, columns), the same out
    return torch.stack([function(code) for code in codes.unbind(1)], dim=1)


def _by_rules(oracle: Oracle, question: Question, pictures: Tensor) -> Tensor:
    shown = 2 * question.hints
    x, y = pictures[:, 0:shown:2].unbind(1), pictures[:, 1:shown:2].unbind(1)
    if question.name == "odd-one-out":
        return _oddness(x, y, oracle.function, lambda made, wanted: (made - wanted).square().sum((1, 2, 3)))
    guess, choices = pictures[:, shown], pictures[:, shown + 1 :]
    if question.name == "backwards":
        rule = oracle.function(x, y)
        choices = torch.stack([rule(choice) for choice in choices.unbind(1)], dim=1)
    elif question.name == "hints":
        guess = oracle.function(x, y)(guess)
    else:
        for one, two in zip(x, y, strict=True):
            guess = oracle.function([one], [two])(guess)
    return -(choices - guess[:, None]).square().sum((2, 3, 4))
