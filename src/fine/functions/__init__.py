"""Functions you can hold: what a FINE composes from hints, as objects with an algebra of their own.

    f = model.function("x.png", "y.png")
    f.nearest(rules="affine"), f("new.png"), f.inverse(), g @ f, f.power(0.5), f.interpolate(g, 0.5), f.distance(g)

`maps` does the same on codes, many functions at once.
"""

from fine.functions.function import Function, Hints, compose
from fine.functions.maps import Map, compose_map
from fine.functions.noticing import misfit

__all__ = ["Function", "Hints", "Map", "compose", "compose_map", "misfit"]
