"""What others have reported on the same benchmarks, with where it comes from.

A number that we could not trace to a source is not here, and is shown as not known.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """Accuracy that others reported, over the variations of a concept."""

    model: str
    benchmark: str
    concept: str
    low: float
    """The least that is reported for the concept."""
    high: float
    """The most."""
    source: str


_KIVA = (
    "GPT-4V: summarised from the answers in KiVA's repository, github.com/ey242/KiVA, "
    "not computed again"
)

_COUNTED = (
    "LLaVA-1.5 and MANTIS: counted from the answers in KiVA's repository, github.com/ey242/KiVA: "
    "the last question, three answers to each of 50 trials of a parameter"
)

RECORDS = (
    Record("GPT-4V", "kiva", "2DRotation", 0.29, 0.40, _KIVA),
    Record("GPT-4V", "kiva", "Reflect", 0.30, 0.38, _KIVA),
    Record("GPT-4V", "kiva", "Resize", 0.48, 0.77, _KIVA),
    Record("LLaVA-1.5", "kiva", "2DRotation", 0.273, 0.413, _COUNTED),
    Record("LLaVA-1.5", "kiva", "Reflect", 0.260, 0.307, _COUNTED),
    Record("LLaVA-1.5", "kiva", "Resize", 0.280, 0.307, _COUNTED),
    Record("LLaVA-1.5", "kiva", "Counting", 0.233, 0.313, _COUNTED),
    Record("MANTIS", "kiva", "2DRotation", 0.340, 0.400, _COUNTED),
    Record("MANTIS", "kiva", "Reflect", 0.307, 0.333, _COUNTED),
    Record("MANTIS", "kiva", "Resize", 0.340, 0.347, _COUNTED),
    Record("MANTIS", "kiva", "Counting", 0.300, 0.360, _COUNTED),
)
"""All that is known to us."""

OTHERS = {"kiva": ("GPT-4V", "LLaVA-1.5", "MANTIS")}
"""Models that a benchmark's authors tested, of which some numbers may be not known."""


HARDER = "KiVA-adults"
"""KiVA's harder set: nothing that was reported on the other one holds for it."""


def reported_as(benchmark: str, data: str) -> str:
    """The name by which numbers were reported on puzzles in a folder called ``data``."""
    return data if data == HARDER else benchmark


def find_record(benchmark: str, model: str, concept: str) -> Record | None:
    """What a model reached on a concept, if that is known."""
    for record in RECORDS:
        if (record.benchmark, record.model, record.concept) == (benchmark, model, concept):
            return record
    return None
