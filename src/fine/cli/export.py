"""`fine export`"""

from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.arguments import options
from fine.cli.terminal import say
from fine.pretrained.exporting import export


@options()
class Export:
    """Make a folder to give away from a finished run: weights, configuration, and a card with its
    recipe and scores."""

    source: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Where to put it; its name becomes the name of the model."""

    def run(self) -> None:
        export(self.source, self.folder)
        say(
            f"{self.folder} holds the model now: fine.load({str(self.folder)!r}), or push the "
            "folder to the Hugging Face hub"
        )
