"""The tests of the built site are for `make docs`, which sets FINE_SITE to its folder."""

import os

collect_ignore_glob = [] if os.environ.get("FINE_SITE") else ["test_*.py"]
