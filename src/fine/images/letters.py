"""Letter strings as grids, the images in which models see them: columns are places, rows letters.

    grid(["abc"]).shape                # (1, 1, 32, 32): one grey image with three bright points
    check_text("abc", "x")             # the string, or an error if puzzles cannot be about it

Since a string is shown as an image, every model takes it, and training, runs and evaluation need
not know about strings.
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
"""All letters in order; a follows z."""
SEEN = ALPHABET[:20]
"""Letters that training shows: consecutive ones, so that most have a successor among them."""
UNSEEN = ALPHABET[20:]
"""Letters that no training puzzle shows, not even in an answer."""
PERMUTED = "".join(SEEN[place] for place in random_order(len(SEEN), 2022)) + UNSEEN
"""Another order of the seen letters, which gives each of them another successor."""
SIZE = 32
"""Columns of a grid: the letters of the longest string that a rule may make."""
LONGEST = SIZE // 2
"""Letters of the longest x or x' in a puzzle, which still fits into the grid when doubled."""


def check_text(text: str, name: str) -> str:
    """The text, if a puzzle can be about it; ``name`` is what the error calls it."""
    if not 1 <= len(text) <= LONGEST:
        raise FineError(f"{name} '{text}' has {len(text)} letters: give 1 to {LONGEST}")
    for letter in text:
        if letter not in ALPHABET:
            raise FineError(f"{name} '{text}' has the unknown letter '{letter}': use a to z")
    return text


def numbers_of(texts: Sequence[str]) -> NDArray[np.int8]:  # (n, SIZE)
    """Texts as letter numbers: 0 for a, −1 behind the end."""
    numbers = np.full((len(texts), SIZE), -1, dtype=np.int8)
    for row, text in zip(numbers, texts, strict=True):
        row[: len(text)] = np.frombuffer(text.encode(), dtype=np.uint8) - ord(ALPHABET[0])
    return numbers


def text_of(numbers: NDArray[np.int8]) -> str:
    """The text with these letter numbers."""
    return "".join(ALPHABET[number] for number in numbers if number >= 0)


def grids_of(numbers: Tensor) -> Tensor:  # (…, SIZE) -> (…, 1, SIZE, SIZE)
    """Letter numbers as grids: the letter is the row, its place the column."""
    rows = torch.arange(SIZE, device=numbers.device)[:, None]
    return (numbers[..., None, None, :] == rows).float()


def texts_of(grids: Tensor) -> list[list[str]]:  # (b, n, 1, SIZE, SIZE)
    """The texts that grids show."""
    brightness, letters = grids[:, :, 0].max(dim=2)  # (b, n, places) each
    numbers = torch.where(brightness > 0.5, letters, -1).to(torch.int8).cpu().numpy()
    return [[text_of(text) for text in puzzle] for puzzle in numbers]


def grid(texts: Sequence[str]) -> Tensor:  # (n, 1, SIZE, SIZE)
    """Texts as grids."""
    return grids_of(torch.from_numpy(numbers_of(texts)))
