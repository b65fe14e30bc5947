"""Codes that are made once: where an encoder is held, the same puzzles have the same codes in every epoch."""

import torch

from fine.models.fine import FINE
from fine.puzzles import Batch, Puzzles

MOST_HELD = 50_000
"""Puzzles of which all codes are kept: 7 KB each."""


@torch.no_grad()
def encoded(model: FINE, puzzles: Puzzles, device: torch.device, *, batch: int = 100) -> Batch:
    """All puzzles, with codes (n, 7, rows, columns) in the place of their pictures."""
    render = puzzles.renderer(device)
    model.eval()
    codes, answers = [], []
    for at in range(0, len(puzzles), batch):
        pictures, right = render(puzzles.specs[at : at + batch])
        codes.append(model.encode(pictures))
        answers.append(right)
    return Batch(torch.cat(codes), torch.cat(answers))
