"""Points of a frame at which maps are compared."""

import numpy as np

POINTS = np.random.default_rng(0).uniform(-1, 1, (40, 2))
