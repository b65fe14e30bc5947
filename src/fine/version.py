"""The version of fine."""

__version__ = "0.1.0"
