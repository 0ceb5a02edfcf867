"""A real origin on loopback, for tests: scripted pages, raw handlers, a log of what it was asked.

`with Origin() as origin:` runs a server in its own thread and event loop, so that synchronous tests,
asynchronous ones and servers in other processes can all fetch from it. `tests/hostile.py` adds the
misbehaviours.

    with Origin() as origin:
        origin.route("/page", "<p>Hello")
        fetch(origin.url("/page"))
        assert origin.paths == ["/page"]

A page's connection is kept alive. A raw handler owns its connection: it writes bytes as it likes, and
the connection is closed when it returns; when the client goes away first, the handler is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import trustme

from service.settings import Settings

T = TypeVar("T")

HTML = "text/html; charset=utf-8"
POLL_SECONDS = 0.01
"""How often a raw handler's connection is looked at for the client's end of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request received: `target` as sent, `headers` by lower-case name (the last of a repeated one)."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


Raw = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Request], Awaitable[None]]
"""Answers one request with any bytes at all."""


class Origin:
    """A server on a loopback address and a free port.

    `address` is where it listens, `port` fixes the port, `tls` makes it an https origin, `mute` makes it
    accept connections and never say a word.
    """

    def __init__(
        self, address: str = "127.0.0.1", *, port: int = 0, tls: ssl.SSLContext | None = None, mute: bool = False
    ) -> None:
        self.address = address
        self.port = port
        self.requests: list[Request] = []
        self.connections = 0
        self.open = 0
        self._tls = tls
        self._mute = mute
        self._handlers: dict[str, Raw | bytes] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="origin", daemon=True)
        self._server: asyncio.Server | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._call(
            # A client that breaks off a TLS handshake on purpose must not hold the server up.
            asyncio.start_server(
                self._converse, self.address, self.port, ssl=self._tls, ssl_handshake_timeout=5 if self._tls else None
            )
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def url(self, path: str = "/", host: str | None = None) -> str:
        """An absolute URL of this origin, by its address or by another `host` name."""
        return f"{'https' if self._tls else 'http'}://{host or self.address}:{self.port}{path}"

    def route(
        self,
        path: str,
        body: bytes | str = b"",
        *,
        status: int = 200,
        content_type: str | None = HTML,
        headers: Iterable[tuple[str, str | bytes]] = (),
    ) -> str:
        """Serve a page at a path (`headers` may repeat a name); its URL."""
        data = body.encode() if isinstance(body, str) else body
        lines = [b"HTTP/1.1 %d Scripted" % status, b"Content-Length: %d" % len(data)]
        if content_type is not None:
            lines.append(f"Content-Type: {content_type}".encode())
        lines += [
            name.encode() + b": " + (value.encode() if isinstance(value, str) else value) for name, value in headers
        ]
        self._handlers[path] = b"\r\n".join(lines) + b"\r\n\r\n" + data
        return self.url(path)

    def redirect(self, path: str, location: str | bytes, status: int = 302) -> str:
        """Redirect a path to any `Location`, sent as it stands; its URL."""
        return self.route(path, status=status, headers=[("Location", location)])

    def raw(self, path: str, handler: Raw) -> str:
        """Let a handler answer a path with any bytes; its URL."""
        self._handlers[path] = handler
        return self.url(path)

    def send(self, path: str, message: bytes) -> str:
        """Answer a path with these very bytes, then close; its URL."""

        async def handler(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: Request) -> None:
            writer.write(message)
            await writer.drain()

        return self.raw(path, handler)

    @property
    def paths(self) -> list[str]:
        """The targets of all requests received, in order."""
        return [request.target for request in self.requests]

    def wait_closed(self, seconds: float = 2.0) -> bool:
        """Whether every client connection ends within some seconds."""
        end = time.monotonic() + seconds
        while self.open and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return not self.open

    def drop_connections(self) -> None:
        """Close every open connection from this side, as a server does with idle ones."""
        self._call(self._cancel_conversations())

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._cancel_conversations()

    async def _cancel_conversations(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=5) if tasks else None

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            # A hostile end of the conversation is what is being tested, whichever side it comes from.
            with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.CancelledError):
                await (_until_gone(reader) if self._mute else self._answer_all(reader, writer))
        finally:
            self.open -= 1
            writer.close()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await _read_request(reader)) is not None:
            self.requests.append(request)
            handler = self._handlers.get(request.path, _MISSING)
            if isinstance(handler, bytes):
                writer.write(handler)
                await writer.drain()
                continue
            answer = asyncio.ensure_future(handler(reader, writer, request))
            gone = asyncio.ensure_future(_until_gone(reader))
            try:
                await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (answer, gone):
                    task.cancel()
                await asyncio.gather(answer, gone, return_exceptions=True)
            return


_MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nnot here\n"


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.partition(":") for line in lines if line)
    return Request(method, target, {name.lower(): value.strip() for name, _, value in pairs})


async def _until_gone(reader: asyncio.StreamReader) -> None:
    while not reader.at_eof():
        await asyncio.sleep(POLL_SECONDS)


def settings_for(*origins: Origin, **sections: Mapping[str, Any]) -> Settings:
    """Settings under which these origins can be reached: loopback allowed, their ports too.

    `sections` holds further settings: `settings_for(origin, limits={"total_seconds": 1})`.
    """
    egress = {"allow": ["127.0.0.0/8"], "ports": [80, 443, *(origin.port for origin in origins)]}
    return Settings.model_validate({**sections, "egress": {**egress, **sections.get("egress", {})}})


def certificate(*names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS for an origin with these names: the server's context, and a client's that trusts it."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client
