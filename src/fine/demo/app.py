"""The server behind the page: JSON endpoints, and the files of the page.

    uvicorn.run(make_app(["all-glyphs"]))

A bad request gets {"error": "one line"} and a 4xx; /openapi.json describes everything else.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool

from fine.demo import catalogue, play, quiz
from fine.demo.batching import MOST
from fine.demo.guarding import Guard
from fine.demo.messages import Problem
from fine.demo.models import Models
from fine.demo.refusing import add_refusals
from fine.version import __version__

PAGE = Path(__file__).parent / "page"


def make_app(models: Sequence[str], *, most: int = MOST) -> FastAPI:
    """The application, with these models to choose from; ``most`` requests make a batch."""
    loaded = Models(models, most=most)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(loaded.batcher.close)

    app = FastAPI(
        title="fine demo",
        version=__version__,
        description="Show one example pair, get the function that made it.",
        docs_url=None,  # those pages load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
        responses={status: {"model": Problem} for status in (413, 422, 503)},
    )
    app.state.batcher = loaded.batcher
    app.add_middleware(Guard)
    for part in (catalogue, play, quiz):
        app.include_router(part.routes(loaded))
    add_refusals(app)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return app
