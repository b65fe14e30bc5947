"""Where a result comes from: versions, machine, and the commit if the source is a checkout."""

import platform
import subprocess
from pathlib import Path

import torch

from fine.version import __version__


def provenance() -> dict[str, str]:
    """Versions, machine and commit, as result.json and the ledger have them."""
    threads = torch.get_num_threads()
    return {
        "fine": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {threads} {'thread' if threads == 1 else 'threads'}",
        "commit": _commit(),
    }


def _commit() -> str:
    checkout = Path(__file__).parents[3]  # of src/fine/io/provenance.py
    if not (checkout / ".git").exists():  # installed: the repository around it is another one
        return "unknown"
    command = ["git", "describe", "--always", "--dirty"]
    try:
        answer = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()
