"""`fine export`"""

from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.arguments import options
from fine.cli.terminal import say
from fine.errors import FineError
from fine.pretrained.exporting import export


@options()
class Export:
    """Make a folder to share from a finished run: weights, configuration, and a card with its
    recipe and scores."""

    source: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Where to put it; its name becomes the name of the model."""
    same_family: int = 0
    """Also test it on this many puzzles whose wrong rules are of the same family as the right ones,
    for its card."""

    def run(self) -> None:
        if self.same_family < 0:
            raise FineError(f"same_family is {self.same_family}: give 0 or more puzzles")
        export(self.source, self.folder, same_family=self.same_family)
        say(
            f"{self.folder} holds the model now: fine.load({str(self.folder)!r}), or push the "
            "folder to the Hugging Face hub"
        )
