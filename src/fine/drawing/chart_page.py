"""A chart of functions as one HTML file that needs nothing else: point at a function to see its rule and its pair."""

import base64
import io
import json
from importlib.resources import files
from pathlib import Path

import torch
from PIL import Image

from fine.drawing.colours import family_colour, rule_colour
from fine.functions.charts import Chart
from fine.storage import write_text

_ACROSS = 20  # pairs side by side in the one picture that holds them all


def write_chart_page(chart: Chart, path: Path, *, title: str, note: str) -> None:
    """Write a chart of functions as a page."""
    rules = [chart.rules.rules[number] for number in chart.numbers]
    functions = [
        {
            "x": round(across, 4),
            "y": round(down, 4),
            "family": rule.family.name,
            "rule": str(rule),
            "colours": [family_colour(rule.family.name), rule_colour(rule)],
        }
        for rule, (across, down) in zip(rules, chart.points.tolist(), strict=True)
    ]
    content = {"title": title, "note": note, "functions": functions, "across": _ACROSS, "side": chart.x.shape[-1]}
    content["pictures"] = f"data:image/png;base64,{base64.b64encode(_pictures(chart)).decode()}"
    page = files("fine.drawing").joinpath("chart.html").read_text(encoding="utf-8")
    # In a script nothing is escaped but the end of it.
    write_text(path, page.replace("/*CONTENT*/", json.dumps(content, ensure_ascii=False).replace("</", "<\\/")))


def _pictures(chart: Chart) -> bytes:
    """All pairs as one PNG: x and y side by side, a line below another."""
    pairs = torch.cat((chart.x, chart.y), dim=3)  # (n, channels, size, 2 × size)
    missing = -len(pairs) % _ACROSS
    pairs = torch.cat((pairs, pairs.new_zeros(missing, *pairs.shape[1:])))
    lines = [torch.cat(list(line), dim=2) for line in pairs.split(_ACROSS)]
    pixels = torch.cat(lines, dim=1).mul(255).round().byte().permute(1, 2, 0).numpy()
    file = io.BytesIO()
    Image.fromarray(pixels.squeeze()).save(file, format="PNG", optimize=True)
    return file.getvalue()
