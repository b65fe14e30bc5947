"""`fine demo`"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

import tyro

from fine.cli.terminal import OptionalInt, say
from fine.errors import FineError
from fine.pretrained import picture_models


@dataclass(frozen=True)
class Demo:
    """Open a page to play with: draw an example, and see what the model makes of another picture; or play against it."""

    host: str = "127.0.0.1"
    """Address to listen on; by default only this machine can see the page."""
    port: OptionalInt = None
    """Port to listen on; by default 8000, or the next free one."""
    model: Annotated[str, tyro.conf.arg(metavar="STR")] = ""
    """Model to start with: one that comes with the package, or a folder; the others can be chosen on the page."""
    open: bool = True
    """Open the page in the browser."""

    def run(self) -> None:
        missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
        if missing:
            raise FineError(f"fine demo needs {' and '.join(missing)}: `pip install {' '.join(missing)}`")
        from fine.demo.serving import serve

        models = list(dict.fromkeys([self.model, *picture_models()] if self.model else picture_models()))
        serve(models, host=self.host, port=self.port, open_page=self.open, say=say)
