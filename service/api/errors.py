"""Failures to HTTP answers, in one place. A stack trace never reaches a client."""

from __future__ import annotations

import json
import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from service.failures import Failure

_log = logging.getLogger("bonmun.errors")


class JSONAnswer(JSONResponse):
    """JSON in UTF-8, whatever the strings hold: a lone surrogate of a page's own data becomes `?`."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )


def failure_answer(failure: Failure) -> Response:
    """The answer that a named failure is."""
    headers = {"Retry-After": str(failure.retry_after)} if failure.retry_after is not None else None
    return JSONAnswer({"error": failure.as_dict()}, failure.status, headers)


async def on_failure(request: Request, error: Exception) -> Response:
    """Starlette's handler for `Failure`."""
    assert isinstance(error, Failure)
    request.state.code = error.code
    return failure_answer(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Unknown routes and methods, in the same envelope."""
    assert isinstance(error, HTTPException)
    code, message = {
        404: ("NOT_FOUND", "There is no such route; see /docs."),
        405: ("METHOD_NOT_ALLOWED", f"{request.method} is not allowed here; see /docs."),
    }.get(error.status_code, ("HTTP_ERROR", error.detail))
    request.state.code = code
    return JSONAnswer({"error": _envelope(code, message)}, error.status_code, error.headers)


async def on_client_gone(request: Request, error: Exception) -> Response:
    """The caller closed its connection: nobody reads this answer, the log does."""
    request.state.code = "CLIENT_GONE"
    return Response(status_code=499)


def bug_answer(error: Exception, request_id: str) -> Response:
    """Anything unforeseen: logged with the request's id, answered without detail."""
    _log.error("unexpected error", exc_info=error, extra={"fields": {"request_id": request_id}})
    return JSONAnswer({"error": _envelope("INTERNAL_ERROR", "The service failed; this is a bug of ours.")}, 500)


def _envelope(code: str, message: str) -> dict[str, object]:
    empty = dict.fromkeys(("retry_after", "upstream_status", "reason", "url"))
    return {"code": code, "message": message, "retryable": False, **empty}
