"""What tests of several processes share."""

import multiprocessing

SERVER = multiprocessing.get_context("forkserver")
"""Starts processes that have torch loaded already: most of their life is what is tested."""
SERVER.set_forkserver_preload(["fine.training.trainer", "matplotlib.pyplot"])
