"""Embeddings made once: a frozen encoder gives the same puzzles the same embeddings every epoch."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fine.puzzles import Batch, Puzzles

MOST_CACHED = 50_000
"""Puzzles whose embeddings are cached at most: 7 KB each."""


class EmbeddingCache:
    """Numbers of puzzles -> batches with embeddings (b, 7, rows, columns) instead of images."""

    @torch.no_grad()
    def __init__(self, model: Any, puzzles: Puzzles, device: torch.device, *, batch: int = 100):
        render = puzzles.renderer(device)
        model.eval()
        embeddings, answers = [], []
        for at in range(0, len(puzzles), batch):
            images, right = render(puzzles.specs[at : at + batch])
            embeddings.append(model.encode(images))
            answers.append(right)
        self.batch = Batch(torch.cat(embeddings), torch.cat(answers))

    def __call__(self, numbers: NDArray[np.int64]) -> Batch:
        return Batch(self.batch.images[numbers], self.batch.answers[numbers])
