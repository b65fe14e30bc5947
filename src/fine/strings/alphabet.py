"""Letters, strings, and the grid a model sees a string as: a column for every place, a row for every letter.

    grid(["abc"]).shape                        # (1, 1, 32, 32): one grey picture, with three bright points
    check_text("abc", "x")                     # a string that puzzles can be about, or one clear line

As a string is shown as a picture, all models take it, and training, runs and evaluation need not know that it is one.
"""

import string
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError
from fine.randomness import random_order

ALPHABET = string.ascii_lowercase
"""All letters in their order; after z comes a."""
SEEN = ALPHABET[:20]
"""Letters that training shows. One block, so that they have successors among themselves."""
UNSEEN = ALPHABET[20:]
"""Letters that no training puzzle shows, not even in an answer."""
PERMUTED = "".join(SEEN[place] for place in random_order(len(SEEN), 2022)) + UNSEEN
"""Another order of the seen letters, in which each has another successor."""
SIZE = 32
"""Places of a grid, and so the letters of the longest string that a rule may make."""
LONGEST = SIZE // 2
"""Letters of the longest string in a question: doubled, it still fits."""


def check_text(text: str, name: str) -> str:
    """The text, if it is a string that a puzzle can be about."""
    if not 1 <= len(text) <= LONGEST:
        raise FineError(f"{name} '{text}' has {len(text)} letters: give 1 to {LONGEST}")
    for letter in text:
        if letter not in ALPHABET:
            raise FineError(f"{name} '{text}' has the unknown letter '{letter}': use a to z")
    return text


def numbers_of(texts: Sequence[str]) -> NDArray[np.int8]:  # (n, SIZE)
    """Texts as numbers of letters, −1 where there is none."""
    numbers = np.full((len(texts), SIZE), -1, dtype=np.int8)
    for row, text in zip(numbers, texts, strict=True):
        row[: len(text)] = np.frombuffer(text.encode(), dtype=np.uint8) - ord(ALPHABET[0])
    return numbers


def text_of(numbers: NDArray[np.int8]) -> str:
    """The text that these numbers of letters are."""
    return "".join(ALPHABET[number] for number in numbers if number >= 0)


def grids_of(numbers: Tensor) -> Tensor:  # (…, SIZE) -> (…, 1, SIZE, SIZE)
    """Numbers of letters as pictures: letters downwards, places to the right."""
    rows = torch.arange(SIZE, device=numbers.device)[:, None]
    return (numbers[..., None, None, :] == rows).float()


def texts_of(grids: Tensor) -> list[list[str]]:  # (b, n, 1, SIZE, SIZE)
    """The texts that grids show."""
    bright, letters = grids[:, :, 0].max(dim=2)  # (b, n, places) twice
    numbers = torch.where(bright > 0.5, letters, -1).to(torch.int8).cpu().numpy()
    return [[text_of(text) for text in puzzle] for puzzle in numbers]


def grid(texts: Sequence[str]) -> Tensor:  # (n, 1, SIZE, SIZE)
    """Texts as pictures."""
    return grids_of(torch.from_numpy(numbers_of(texts)))
