"""Errors as the page gets them: {"error": "one line"}, with the status that fits."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from fine.demo.batching import TooBusyError
from fine.errors import FineError, printable


def add_refusals(app: FastAPI) -> None:
    """Turn the exceptions of an application's endpoints into responses."""

    @app.exception_handler(FineError)
    async def bad_input(request: Request, error: FineError) -> JSONResponse:
        return _refusal(422, str(error))

    @app.exception_handler(TooBusyError)
    async def busy(request: Request, error: TooBusyError) -> JSONResponse:
        return _refusal(503, "too many requests are waiting: try again in a second")

    @app.exception_handler(HTTPException)
    async def not_found(request: Request, error: HTTPException) -> JSONResponse:
        path = request.url.path[:60]
        return _refusal(error.status_code, f"{request.method} {path}: {error.detail}")

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:]) or "the body"
        return _refusal(422, f"{field[:80]}: {first['msg']}")


def _refusal(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": printable(" ".join(reason.split()))}, status_code=status)
