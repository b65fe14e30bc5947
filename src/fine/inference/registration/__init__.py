"""The rule behind example pairs, with parameters between all grid points, from the pixels alone.

    found = register([x], [y])            # float (channels, h, w) each, of any size and shape
    str(found)                            # rotation 37.2° ± 0.2
    found.residual, found.explains        # 0.01, True: what is left of y, where 1 is all of it
    found.ambiguous, found.others         # whether other rules explain it as well, and which

pairs.py holds the pairs at several resolutions, forms.py and bends.py the formulas of many
candidates at once, settings.py takes negatives and swaps out, starts.py and bank.py find where to
begin, comparison.py says how much of y candidates explain, refinement.py moves their parameters,
beam.py goes from coarse to fine. search.py tries families.py first and then mixes.py, choice.py
takes the simplest rule that explains, wording.py says it.
"""

from fine.inference.registration.choice import Registered
from fine.inference.registration.search import REGISTERED_FAMILIES, register

__all__ = ["REGISTERED_FAMILIES", "Registered", "register"]
