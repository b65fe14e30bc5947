"""Geometry: d4.py, the symmetries of the square, and warp.py, the one batched warp of images.

frame.py has points of images of any shape, point_map.py says what a map of them is.
"""
