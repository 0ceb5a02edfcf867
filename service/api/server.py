"""How the face is served: uvicorn, with a bound on what comes before and after a body.

`Wire` is uvicorn's own protocol, which keeps every header a caller sends, and which answers
`GET /read/https://ko.example/한글`, as curl sends it, with an error: targets are ASCII (RFC 9112, section 3.2).
"""

from __future__ import annotations

import json
import math
import uuid

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
            http=Wire,
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
    """HTTP/1.1 with a bounded head, bytes beyond ASCII percent-encoded in targets, and errors in our envelope."""

    _in_request_line = True
    _unproductive = 0

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
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or too much of it, and close."""
        if self.cycle is None or self.cycle.response_complete:  # else its answer may be half sent
            body = json.dumps({"error": InvalidRequest(msg, reason="http").as_dict()}).encode()
            head = (
                "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\nX-Request-ID: {uuid.uuid4().hex}\r\n"
                "X-Content-Type-Options: nosniff\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()
