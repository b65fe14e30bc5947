"""`fine demo`"""

import os
import sys
from importlib.util import find_spec

from fine.cli.arguments import options
from fine.cli.options import TrainedModel
from fine.cli.terminal import say
from fine.errors import FineError
from fine.pretrained import DEFAULT, image_models


@options()
class Demo:
    """Open a page to play with: draw an example pair and see what the model does to another image,
    or play against it."""

    host: str = "127.0.0.1"
    """Address to listen on; the default lets only this machine see the page."""
    port: int | None = None
    """Port to listen on; by default 8000, or the next free one."""
    model: TrainedModel = ""
    """Model to start with: a bundled pretrained model, a run folder, or an exported folder; others
    can be chosen on the page. By default it is universal."""
    no_open: bool = False
    """Do not open the page in the browser."""

    def run(self) -> None:
        missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
        if missing:
            raise FineError(
                f"fine demo needs {' and '.join(missing)}: `pip install {' '.join(missing)}`"
            )
        from fine.demo.serving import serve  # noqa: PLC0415 - needs fastapi and uvicorn

        bundled = image_models()
        models = list(dict.fromkeys([self.model or DEFAULT, *bundled]))
        ended_by = serve(
            models, host=self.host, port=self.port, open_page=not self.no_open, say=say
        )
        # Threads of torch may still compute: a usual end would wait for them, or be an abort.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(128 + ended_by)
