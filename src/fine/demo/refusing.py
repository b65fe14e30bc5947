"""Errors as the page gets them: {"error": "one line"}, with the status that fits."""

from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from fine.demo.admission import TooBusyError
from fine.errors import FineError, printable
from fine.models.finite import BrokenModelError


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response to a request that is not answered."""
    line = printable(" ".join(reason.split()))
    return JSONResponse({"error": line}, status_code=status, headers=headers)


def busy_refusal(busy: TooBusyError) -> JSONResponse:
    """The response to a request that would wait too long."""
    seconds = "a second" if busy.retry_after == 1 else f"{busy.retry_after} seconds"
    reason = f"too many requests are waiting: try again in {seconds}"
    return refusal(503, reason, {"Retry-After": f"{busy.retry_after}"})


def add_refusals(app: FastAPI) -> None:
    """Turn the exceptions of an application's endpoints into responses."""

    @app.exception_handler(FineError)
    async def bad_input(request: Request, error: FineError) -> JSONResponse:
        return refusal(422, str(error))

    @app.exception_handler(TooBusyError)
    async def too_busy(request: Request, error: TooBusyError) -> JSONResponse:
        return busy_refusal(error)

    @app.exception_handler(BrokenModelError)
    async def broken(request: Request, error: BrokenModelError) -> JSONResponse:
        return refusal(500, str(error))

    @app.exception_handler(HTTPException)
    async def not_found(request: Request, error: HTTPException) -> JSONResponse:
        path = request.url.path[:60]
        return refusal(error.status_code, f"{request.method} {path}: {error.detail}")

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:]) or "the body"
        return refusal(422, f"{field[:80]}: {first['msg']}")
