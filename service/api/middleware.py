"""Around every request: its id, its log line, its size limit, and the answer to a bug.

Plain ASGI, so that streaming and disconnects pass.
"""

from __future__ import annotations

import logging
import re
import time
import uuid

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.errors import bug_answer, failure_answer
from service.failures import InvalidRequest, Overloaded

_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_log = logging.getLogger("bonmun.access")


class RequestContext:
    """Gives each request an id (the caller's `X-Request-ID` where it is plain), and logs one line for it.

    Outermost of the service's own layers, so that the answer to a bug has an id and a line as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        scope["request_id"] = given if _ID.fullmatch(given) else uuid.uuid4().hex
        state = scope.setdefault("state", {})
        started = time.perf_counter()
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = scope["request_id"]
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            await self.app(scope, receive, answer)
        except Exception as error:
            state["code"] = "INTERNAL_ERROR"
            response = bug_answer(error, scope["request_id"])
            if not status:
                await response(scope, receive, answer)
        except anyio.get_cancelled_exc_class():
            # Only a stop that ran out of patience cancels a request. Nothing of this task is left but its answer.
            if status:
                raise
            stopping = Overloaded("The service is stopping.", reason="shutdown", retry_after=1)
            state["code"] = stopping.code
            await failure_answer(stopping)(scope, receive, answer)
        finally:
            route = scope.get("route")
            fields = {
                "request_id": scope["request_id"],
                "method": scope["method"],
                "route": getattr(route, "path", None),
                "status": status or None,
                "code": state.get("code"),
                "host": state.get("host"),
                "ms": round(1e3 * (time.perf_counter() - started), 1),
            }
            _log.info("request" if status else "request dropped by the client", extra={"fields": fields})


class BodyLimit:
    """Refuses a request body over `limit` bytes while it streams in, whatever its Content-Length says."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        seen = int(declared) if declared.isascii() and declared.isdigit() and int(declared) > self.limit else 0

        async def counted() -> Message:
            nonlocal seen
            if seen <= self.limit:
                message = await receive()
                seen += len(message.get("body", b""))
            if seen > self.limit:
                raise InvalidRequest(f"The request's body is over {self.limit:,} bytes.", reason="body")
            return message

        async def answer(message: Message) -> None:
            # The rest of such a body is not read: nothing else can follow on the connection.
            if message["type"] == "http.response.start" and seen > self.limit:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self.app(scope, counted, answer)
