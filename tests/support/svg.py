"""What a reader sees of an SVG file."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path


def svg_texts(path: Path) -> list[str]:
    """The texts of an SVG; parsing fails if it is not well-formed."""
    nodes = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(node.itertext()) for node in nodes]
