"""The models of a page. Requests to them that arrive together are answered in one batch.

models = Models(["all-glyphs"])
scores = await models.score("all-glyphs", images)        # x, y, x' and k choices -> (k,)
"""

import functools
from collections.abc import Iterator, Sequence

from torch import Tensor

from fine.demo.batching import MOST, Batcher
from fine.demo.solver import (
    Answer,
    ExplainRequest,
    Explanation,
    ModelRequest,
    ScoreRequest,
    Solver,
    answer_all,
)
from fine.errors import FineError, unknown


class Models:
    """Solvers by name, and the batcher that all requests to them go through."""

    def __init__(self, models: Sequence[str], *, most: int = MOST):
        if not models:
            raise FineError("a demo needs at least one model: name one, such as all-glyphs")
        self._solvers = {solver.name: solver for solver in map(Solver.load, models)}
        self.batcher: Batcher[ModelRequest, Answer] = Batcher(
            functools.partial(answer_all, self._solvers), most=most
        )

    def __getitem__(self, name: str) -> Solver:
        if name not in self._solvers:
            raise unknown("model", name, self._solvers)
        return self._solvers[name]

    def __iter__(self) -> Iterator[Solver]:
        return iter(self._solvers.values())

    async def score(self, model: str, images: Tensor) -> Tensor:
        """x, y, x' and k choices (3 + k, channels, size, size) -> their probabilities (k,)."""
        scores = await self.batcher.ask(ScoreRequest(model, images))
        assert isinstance(scores, Tensor)
        return scores

    async def explain(self, model: str, pair: Tensor, *, map: str, most: int) -> Explanation:
        """Up to ``most`` rules for x and y (2, channels, size, size), and a place on a map."""
        explanation = await self.batcher.ask(ExplainRequest(model, pair, map, most))
        assert isinstance(explanation, Explanation)
        return explanation
