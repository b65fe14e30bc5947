"""FINE: show one example pair, and get the function that made it."""

__version__ = "0.1.0"
