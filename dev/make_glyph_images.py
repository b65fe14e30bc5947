"""Draws docs/img/glyphs.png, the generated characters. Run: python dev/make_glyph_images.py

One row for each of the first twelve characters, one column for each of ten drawings.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from fine.images import glyphs

ROWS, COLUMNS, SIZE = 12, 10, 80  # models see the same drawings at 32 × 32
TARGET = Path(__file__).parent.parent / "docs" / "img" / "glyphs.png"


def main() -> None:
    number, drawing = (part.ravel() for part in np.mgrid[:ROWS, :COLUMNS])
    images = glyphs.draw(number, drawing, size=SIZE).numpy().reshape(ROWS, COLUMNS, SIZE, SIZE)
    sheet = 255 - images.transpose(0, 2, 1, 3).reshape(ROWS * SIZE, COLUMNS * SIZE)
    Image.fromarray(sheet).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
