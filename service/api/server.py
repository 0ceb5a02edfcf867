"""How the face is served: uvicorn, with a bound on what comes before and after a body.

`Wire` is uvicorn's own protocol, which keeps every header a caller sends, and which answers
`GET /read/https://ko.example/한글`, as curl sends it, with an error: targets are ASCII (RFC 9112, section 3.2).
"""

from __future__ import annotations

import asyncio
import json
import math
import uuid
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.api.target import as_ascii
from service.failures import InvalidRequest
from service.settings import Server

MAX_HEAD_BYTES = 65_536
"""Bytes of head, trailers and chunk framing taken in a row; an address has at most 8,192 of them."""


def server(app: ASGIApp, settings: Server) -> uvicorn.Server:
    """A server of `app` at `server.host` and `server.port`, not yet running. It logs nothing of requests: the app does.

    Its stop waits `server.shutdown_seconds` for requests under way.
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            http=partial(Wire, arrival_seconds=settings.arrival_seconds, unread_seconds=settings.unread_seconds),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=math.ceil(settings.shutdown_seconds),
        )
    )


class Wire(HttpToolsProtocol):  # type: ignore[misc]
    """HTTP/1.1 with a bounded head, bytes beyond ASCII percent-encoded in targets, and errors in our envelope.

    A request has `arrival_seconds` to arrive whole, from the connection or its first byte on; an answer of which
    nothing is taken for `unread_seconds` is dropped. uvicorn has neither bound.
    """

    _in_request_line = True
    _unproductive = 0
    _arrival: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, arrival_seconds: float, unread_seconds: float, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._arrival_seconds = arrival_seconds
        self._unread_seconds = unread_seconds

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A caller is there: it has something to say soon, or it goes."""
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """The caller is gone, and its timers with it."""
        for timer in (self._arrival, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self._await_request()

    def on_response_complete(self) -> None:
        """All of the answer is in the transport's buffer; what is left there waits for the caller."""
        super().on_response_complete()
        if self._unread is None and (left := self.transport.get_write_buffer_size()):
            self._unread = self.loop.call_later(self._unread_seconds, self._still_unread, left)

    def _await_request(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
        self._arrival = self.loop.call_later(self._arrival_seconds, self._too_slow)

    def _too_slow(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        if self.pipeline or (answering and (self.cycle.response_started or not self.cycle.more_body)):
            self._await_request()  # an earlier request has its turn first
        elif not self.transport.is_closing():
            message = f"The request did not arrive within {self._arrival_seconds:g} seconds."
            self._refuse("408 Request Timeout", InvalidRequest(message, reason="slow"))

    def _still_unread(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left and left >= before:
            self.transport.abort()
        elif left:
            self._unread = self.loop.call_later(self._unread_seconds, self._still_unread, left)
        else:
            self._unread = None

    def data_received(self, data: bytes) -> None:
        """Bytes of the connection."""
        if self._in_request_line:
            line, end, rest = data.partition(b"\n")
            self._in_request_line = not end
            if not line.isascii():
                line = as_ascii(line).encode()
            data = line + end + rest
        self._unproductive += len(data)
        super().data_received(data)
        if self._unproductive > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.logger.warning("A request's head is over %d bytes.", MAX_HEAD_BYTES)
            self.send_400_response(f"The request's head is over {MAX_HEAD_BYTES:,} bytes.")

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._unproductive = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body, which the app counts."""
        self._unproductive = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole: the next one begins with a request line."""
        self._unproductive = 0
        self._in_request_line = True
        if self._arrival is not None:
            self._arrival.cancel()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or too much of it, and close."""
        if self.cycle is None or self.cycle.response_complete:  # else its answer may be half sent
            self._refuse("400 Bad Request", InvalidRequest(msg, reason="http"))
        else:
            self.transport.close()

    def _refuse(self, status: str, failure: InvalidRequest) -> None:
        body = json.dumps({"error": failure.as_dict()}).encode()
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\nX-Request-ID: {uuid.uuid4().hex}\r\n"
            "X-Content-Type-Options: nosniff\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
