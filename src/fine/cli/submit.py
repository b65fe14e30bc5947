"""`fine submit`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.arguments import options
from fine.cli.options import MachineOptions
from fine.cli.terminal import say
from fine.errors import FineError
from fine.experiments.leaderboard import leaderboard
from fine.experiments.ledger import Ledger
from fine.experiments.submission import check_submission
from fine.pretrained.cards import recipe
from fine.training.run import Run


@options()
class Submit:
    """Check a run and test it again, and write it as an entry of the ledger, for a pull request."""

    source: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    results: Path = Path("results")
    """Folder of the ledger, results/ of a checkout."""
    machine: MachineOptions = MachineOptions()

    def run(self) -> None:
        self.machine.use()
        run, ledger = Run(self.source), Ledger(self.results / "ledger")
        record = check_submission(run, device=self.machine.device)
        path = ledger.path(record.key)
        if ledger.read(record.key) is not None:
            raise FineError(f"{path} is there already: submit another seed, or delete that file")
        ledger.write(record)
        say(f"tested again: {record.value:.1%} of {record.test_puzzles:,} test puzzles")
        boards = [board.name for board in leaderboard([record]) if board.lines]
        where = f"of {boards[0]}" if boards else "that no table has, so no leaderboard shows it"
        say(f"its task is one {where}")
        say(f"written to {path}")
        say(f"weights: SHA-256 {record.weights}")
        config = run.config()
        config = replace(config, task=replace(config.task, data_root=""))
        say("to send it: commit that file alone, and open a pull request with this command in it")
        say(f"  {recipe(config)}")
