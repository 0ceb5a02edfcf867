"""A real origin on loopback, in a thread of its own: routes, raw handlers for hostile behaviour, a log of requests."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

Handler = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    target: str
    headers: dict[str, str]


@dataclass
class Origin:
    """An HTTP/1.1 server that keeps connections open and does exactly what its routes say."""

    context: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    closed: int = 0
    port: int = 0
    _routes: dict[str, Handler] = field(default_factory=dict)

    def route(
        self,
        path: str,
        body: bytes | str = b"",
        status: int = 200,
        content_type: str | None = "text/html; charset=utf-8",
        headers: dict[str, str] | None = None,
    ) -> str:
        """Answer `path` with this; the route's address."""
        data = body.encode() if isinstance(body, str) else body
        fields = {
            "Content-Length": str(len(data)),
            **({"Content-Type": content_type} if content_type else {}),
            **(headers or {}),
        }
        head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"

        async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
            writer.write(head.encode() + data)
            await writer.drain()

        return self.raw(path, answer)

    def raw(self, path: str, handler: Handler) -> str:
        """Let `handler` write whatever it likes; the route's address."""
        self._routes[path] = handler
        return self.url(path)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """The address of a path here."""
        return f"{'https' if self.context else 'http'}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        """The request targets seen so far."""
        return [request.target for request in self.requests]

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()

        async def start() -> None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.context)
            self.port = self._server.sockets[0].getsockname()[1]
            started.set()

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(start())
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        async def stop() -> None:
            self._server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                lines = head.split("\r\n")
                pairs = (line.partition(":") for line in lines[1:] if line)
                request = Request(lines[0].split(" ")[1], {name.lower(): value.strip() for name, _, value in pairs})
                self.requests.append(request)
                handler = self._routes.get(request.target.partition("?")[0])
                if handler is None:
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found")
                    await writer.drain()
                else:
                    await handler(request, writer)
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ssl.SSLError):
            return  # the client is gone, as some tests want it, or the test is over
        finally:
            self.closed += 1
            writer.close()
