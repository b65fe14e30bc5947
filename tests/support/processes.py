"""What tests of several processes share."""

import multiprocessing

SERVER = multiprocessing.get_context("forkserver")
"""Starts processes that have torch loaded already: most of their life is what is tested."""
# Dynamo is imported by the first optimiser of a process, and takes a second.
SERVER.set_forkserver_preload(["fine.training.trainer", "matplotlib.pyplot", "torch._dynamo"])
