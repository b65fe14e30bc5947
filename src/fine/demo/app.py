"""The server behind the page: JSON endpoints, and the files of the page.

    uvicorn.run(make_app(["all-glyphs"]))

A bad request gets {"error": "one line"} and a 4xx; /openapi.json describes everything else.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, HTTPException
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from fine.demo import apply, catalogue, play, quiz
from fine.demo.admission import Admission
from fine.demo.batching import MOST
from fine.demo.guarding import Guard
from fine.demo.messages import Problem
from fine.demo.models import Models
from fine.demo.refusing import add_refusals
from fine.version import __version__

PAGE = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


def make_app(
    models: Sequence[str],
    *,
    most: int = MOST,
    names: Collection[str] = (),
    admission: Admission | None = None,
) -> FastAPI:
    """The application, with these models to choose from; ``most`` requests make a batch.

    It answers to localhost, to the address that it is asked at, and to ``names``.
    """
    loaded = Models(models, most=most)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(loaded.close)

    app = FastAPI(
        title="fine demo",
        version=__version__,
        description="Show one example pair, get the function that made it.",
        docs_url=None,  # those pages load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
        responses={status: {"model": Problem} for status in (413, 421, 422, 500, 503)},
    )
    app.state.models = loaded
    app.add_middleware(Guard, names=names, admission=admission or Admission())
    for part in (catalogue, play, quiz, apply):
        app.include_router(part.routes(loaded))
    app.include_router(_page())
    add_refusals(app)
    return app


def _page() -> APIRouter:
    """The files of the page, from memory: they are there however busy the disk and threads are."""
    router = APIRouter(include_in_schema=False)
    files = {file.name: (file.read_bytes(), _TYPES[file.suffix]) for file in PAGE.iterdir()}

    def respond(name: str) -> Response:
        content, kind = files[name]
        return Response(content, media_type=kind)

    @router.get("/")
    async def page() -> Response:
        return respond("index.html")

    @router.get("/page/{name}")
    async def part(name: str) -> Response:
        if name not in files:
            raise HTTPException(404)
        return respond(name)

    return router
