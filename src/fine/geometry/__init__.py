"""Geometry: d4.py, the symmetries of the square, and warp.py, the one batched warp of images."""
