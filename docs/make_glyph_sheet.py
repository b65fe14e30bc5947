"""Draw docs/img/glyphs.png, the generated characters at a glance: python docs/make_glyph_sheet.py

A row for each of the first twelve characters, a column for each of ten drawings.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from fine.images import glyphs

ROWS, COLUMNS, SIZE = 12, 10, 80  # the pictures a model sees are the same drawings at 32 × 32


def main() -> None:
    number, drawing = (part.ravel() for part in np.mgrid[:ROWS, :COLUMNS])
    pictures = glyphs.draw(number, drawing, size=SIZE).numpy().reshape(ROWS, COLUMNS, SIZE, SIZE)
    sheet = 255 - pictures.transpose(0, 2, 1, 3).reshape(ROWS * SIZE, COLUMNS * SIZE)
    target = Path(__file__).parent / "img" / "glyphs.png"
    target.parent.mkdir(exist_ok=True)
    Image.fromarray(sheet).save(target, optimize=True)


if __name__ == "__main__":
    main()
