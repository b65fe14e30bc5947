"""Files: written whole or not at all, locked while in use, and checked when read."""
