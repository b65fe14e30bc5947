"""A map of functions as one HTML file that needs no other: point at a function to see its rule."""

import base64
import io
import json
from importlib.resources import files
from pathlib import Path

import torch
from PIL import Image

from fine.analysis.function_map import FunctionMap
from fine.drawing.colours import family_colour, rule_colour
from fine.io.files import write_text

_ACROSS = 20  # pairs side by side in the one image that holds them all


def write_map_page(made: FunctionMap, path: Path, *, title: str, note: str) -> None:
    """Write a map of functions as a page."""
    rules = [made.rules.rules[number] for number in made.numbers]
    functions = [
        {
            "x": round(across, 4),
            "y": round(down, 4),
            "family": rule.family.name,
            "rule": str(rule),
            "colours": [family_colour(rule.family.name), rule_colour(rule)],
        }
        for rule, (across, down) in zip(rules, made.points.tolist(), strict=True)
    ]
    content = {
        "title": title,
        "note": note,
        "functions": functions,
        "across": _ACROSS,
        "side": made.x.shape[-1],
        "images": f"data:image/png;base64,{base64.b64encode(_pairs(made)).decode()}",
    }
    # Inside a script nothing needs escaping but the tag that would end it.
    script = json.dumps(content, ensure_ascii=False).replace("</", "<\\/")
    page = files("fine.analysis").joinpath("map.html").read_text(encoding="utf-8")
    write_text(path, page.replace("/*CONTENT*/", script))


def _pairs(made: FunctionMap) -> bytes:
    """All pairs as one PNG: x and y side by side, in rows of pairs."""
    pairs = torch.cat((made.x, made.y), dim=3)  # (n, channels, size, 2 × size)
    missing = -len(pairs) % _ACROSS
    pairs = torch.cat((pairs, pairs.new_zeros(missing, *pairs.shape[1:])))
    rows = [torch.cat(list(row), dim=2) for row in pairs.split(_ACROSS)]
    pixels = torch.cat(rows, dim=1).mul(255).round().byte().permute(1, 2, 0).numpy()
    file = io.BytesIO()
    Image.fromarray(pixels.squeeze()).save(file, format="PNG", optimize=True)
    return file.getvalue()
