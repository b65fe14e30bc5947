"""A map applied to images at full size: one image, one file, or folders of files.

    result = apply_map(image, point_map, Settings(canvas="expand"))     # Pillow images
    summary = apply_to_files(point_map, [Path("photos")], Path("done"), Settings())

- settings.py: how results are drawn; canvas.py: their size; modes.py: their colours.
- affine.py and remap.py draw them; image.py chooses between the two.
- file_format.py keeps what a file is besides pixels; photo.py does one file.
- listing.py, record.py and batch.py do many; preview.py shows a few.
- background.py sees in an example the colour of what is uncovered.
"""

from fine.apply.background import uncovered_background
from fine.apply.batch import Failure, Progress, Summary, apply_to_files
from fine.apply.image import apply_map
from fine.apply.listing import list_files
from fine.apply.preview import draw_preview
from fine.apply.settings import Settings

__all__ = [
    "Failure",
    "Progress",
    "Settings",
    "Summary",
    "apply_map",
    "apply_to_files",
    "draw_preview",
    "list_files",
    "uncovered_background",
]
