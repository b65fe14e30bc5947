"""The version of fine."""

__version__ = "0.2.0"
"""The version of this package.

Examples:
    >>> import fine
    >>> fine.__version__.count(".")
    2
"""
