"""Bundled pretrained models, one folder each, and one way to load any trained FINE.

    model = load("all-glyphs")                     # by name; or a run folder, or an exported one
    model.size, model.channels                     # of the images that it was trained on
    trained_on("all-glyphs")                       # a Task: glyphs, all rules

A folder holds model.safetensors, config.json and its card, README.md; a calibrated model also has
calibration.json. `fine export RUN FOLDER` makes such a folder of a run: exporting.py, with the card
of cards.py.
"""

from fine.pretrained.loading import (
    DEFAULT,
    folder_of,
    holds_run,
    image_models,
    load,
    load_calibration,
    names,
    trained_on,
    weights_digest,
)

__all__ = [
    "DEFAULT",
    "folder_of",
    "holds_run",
    "image_models",
    "load",
    "load_calibration",
    "names",
    "trained_on",
    "weights_digest",
]
