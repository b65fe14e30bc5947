"""Every benchmark, each in a process of its own: python benchmarks/all.py

Fails if a ratio misses its target. Times depend on the machine and are only shown.
"""

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "rendering.py",
    "step.py",
    "memory.py",
    "any_backbone.py",
    "specs.py",
    "models.py",
    "ratios.py",
    "big_training.py",
    "startup.py",
    "solving.py",
    "demo.py",
)


def main() -> int:
    missed = []
    for name in SCRIPTS:
        script = Path(__file__).with_name(name)
        if subprocess.run([sys.executable, script]).returncode:
            missed.append(name)
    if missed:
        print(f"missed or failed: {', '.join(missed)}")
    else:
        print("every ratio is within its target")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
