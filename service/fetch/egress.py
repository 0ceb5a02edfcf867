"""The browser's only way out: a forward proxy on loopback, one listener a page.

Plain HTTP comes in absolute form, everything else (TLS, WebSockets) through CONNECT (RFC 9110, section
9.3.6; RFC 9112, section 3.2). Each connection is resolved, checked and pinned by the same guard and
dialler as the static tier's. What the page costs is counted here, where no page can get around it.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field

import ada_url
import h11
import httpcore2

from service.failures import AddressForbidden, Failure, UpstreamError, UpstreamTimeout
from service.fetch.network import PinnedBackend
from service.fetch.url import Target, normalize
from service.settings import Settings

PIECE_BYTES = 65_536
"""Bytes read at a time: what asyncio's and the kernel's buffers hold by default."""

HOP_BY_HOP = frozenset(
    (b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization", b"te", b"trailer", b"upgrade")
)
"""Fields for the proxy, not for the origin (RFC 9110, section 7.6.1)."""


@dataclass
class Costs:
    """What one page has spent on the network."""

    bytes: int = 0
    requests: int = 0
    hosts: set[str] = field(default_factory=set)
    spent: str | None = None
    """What cut the page off: its `bytes`, or the end of its `seconds`. Requests, hosts and connections beyond their
    limits are refused one by one."""


class Egress:
    """Opens lanes. `backend` is the dialler with its guard."""

    def __init__(self, settings: Settings, backend: PinnedBackend) -> None:
        self._settings = settings
        self._backend = backend

    async def open(self, listener: socket.socket) -> Lane:
        """A lane on a listening socket; `Lane.aclose` cuts every connection of it."""
        lane = Lane(self._settings, self._backend)
        await lane.start(listener)
        return lane


class Lane:
    """One page's way out: a listener, its costs, and what was refused or failed by (host, port)."""

    def __init__(self, settings: Settings, backend: PinnedBackend) -> None:
        self._limits = settings.render
        self._head_bytes = settings.limits.max_header_bytes
        self._ports = settings.egress.ports
        self._seconds = settings.fetch.connect_seconds
        self._backend = backend
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.costs = Costs()
        self.failures: dict[tuple[str, int], Failure] = {}

    async def start(self, listener: socket.socket) -> None:
        """Accept on this socket."""
        self.port = listener.getsockname()[1]
        self._server = await asyncio.start_server(self._accept, sock=listener)

    async def aclose(self) -> None:
        """Close the listener and cut every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def stop(self, budget: str) -> None:
        """Cut everything: this budget is used up."""
        self.costs.spent = self.costs.spent or budget
        for task in self._connections:
            task.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.costs.spent or len(self._connections) >= self._limits.max_connections:
            writer.transport.abort()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Client(reader, writer, self._head_bytes)
        try:
            while isinstance(event := await client.event(), h11.Request):
                self._request()
                if event.method == b"CONNECT":
                    await self._tunnel(client, event.target.decode("latin-1"))
                    return
                await self._forward(client, event)
                if not client.next_cycle():
                    return
        except (Failure, h11.ProtocolError, OSError, httpcore2.NetworkError, httpcore2.TimeoutException):
            return  # the browser sees a closed connection; what it means for the page stands in `failures`
        finally:
            writer.transport.abort() if self.costs.spent else writer.close()

    async def _tunnel(self, client: _Client, authority: str) -> None:
        host, port = _authority(authority)
        try:
            stream = await self._dial(host, port)
        except Failure:
            await client.send(h11.Response(status_code=403, headers=[("Content-Length", "0")]), h11.EndOfMessage())
            raise
        try:
            await client.send(h11.Response(status_code=200, headers=[]))
            await stream.write(client.rest())
            await _first_done(self._up(client, stream), self._down(client, stream))
        finally:
            await stream.aclose()

    async def _up(self, client: _Client, stream: httpcore2.AsyncNetworkStream) -> None:
        while data := await client.read():
            self._spend(len(data))
            await stream.write(data)

    async def _down(self, client: _Client, stream: httpcore2.AsyncNetworkStream) -> None:
        while data := await stream.read(PIECE_BYTES):
            self._spend(len(data))
            await client.write(data)

    async def _forward(self, client: _Client, request: h11.Request) -> None:
        target = self._target(request.target.decode("latin-1"))
        stream = await self._dial(target.host, target.port)
        try:
            await self._exchange(client, stream, request, target)
        finally:
            await stream.aclose()

    async def _exchange(
        self, client: _Client, stream: httpcore2.AsyncNetworkStream, request: h11.Request, target: Target
    ) -> None:
        """One request to its origin and the answer back; the origin's connection is used once."""
        origin = h11.Connection(h11.CLIENT, max_incomplete_event_size=self._head_bytes)
        fields: list[tuple[bytes, bytes]] = list(request.headers.raw_items())
        named = {token for name, value in fields if name.lower() == b"connection" for token in _tokens(value)}
        kept = [(name, value) for name, value in fields if name.lower() not in HOP_BY_HOP | named]
        head = h11.Request(method=request.method, target=target.path, headers=[*kept, (b"Connection", b"close")])
        await stream.write(origin.send(head) or b"")
        while isinstance(event := await client.event(), h11.Data):
            self._spend(len(event.data))
            await stream.write(origin.send(event) or b"")
        await stream.write(origin.send(h11.EndOfMessage()) or b"")
        while True:
            answer = origin.next_event()
            if answer is h11.NEED_DATA:
                data = await stream.read(PIECE_BYTES)
                self._spend(len(data))
                origin.receive_data(data)
            elif isinstance(answer, h11.Response):
                fields = [(name, value) for name, value in answer.headers if name not in HOP_BY_HOP]
                await client.send(h11.Response(status_code=answer.status_code, headers=fields, reason=answer.reason))
            elif isinstance(answer, h11.Data):
                await client.send(h11.Data(data=answer.data))
            elif isinstance(answer, h11.EndOfMessage):
                await client.send(h11.EndOfMessage())
                return
            elif not isinstance(answer, h11.InformationalResponse):
                return

    def _target(self, url: str) -> Target:
        try:
            return normalize(url, self._ports)
        except Failure as failure:
            self._note(_host_and_port(url), failure)
            raise

    async def _dial(self, host: str, port: int) -> httpcore2.AsyncNetworkStream:
        place = host.strip("[]").lower(), port
        try:
            self._host(place[0])
            return await self._backend.connect_tcp(*place, timeout=self._seconds)
        except Failure as failure:
            raise self._note(place, failure) from None
        except httpcore2.ConnectTimeout:
            silent = UpstreamTimeout("The site did not accept a connection in time.", reason="connect_timeout")
            raise self._note(place, silent) from None
        except (httpcore2.ConnectError, OSError):
            refused = UpstreamError("The site refused the connection.", reason="connect")
            raise self._note(place, refused) from None

    def _note(self, place: tuple[str, int], failure: Failure) -> Failure:
        self.failures.setdefault(place, failure)
        return failure

    def _request(self) -> None:
        self.costs.requests += 1
        if self.costs.requests > self._limits.max_requests:
            raise UpstreamError("The page asks for more than one page may.", reason="requests")

    def _host(self, host: str) -> None:
        self.costs.hosts.add(host)
        if len(self.costs.hosts) > self._limits.max_hosts:
            self.costs.hosts.discard(host)
            raise AddressForbidden("The page calls more hosts than one page may.", reason="hosts")

    def _spend(self, count: int) -> None:
        self.costs.bytes += count
        if self.costs.bytes > self._limits.max_bytes:
            self.stop("bytes")
            raise UpstreamError("The page costs more than one page may.", reason="bytes")


class _Client:
    """The browser's end of one connection, as HTTP events or as bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head_bytes: int) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=head_bytes)

    async def event(self) -> object:
        """The next event of the browser's side."""
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._reader.read(PIECE_BYTES))

    async def send(self, *events: h11.Event) -> None:
        """Send what the origin answered."""
        for event in events:
            self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()

    def next_cycle(self) -> bool:
        """Whether the connection is good for another request."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def rest(self) -> bytes:
        """What came right behind a CONNECT."""
        data: bytes = self._http.trailing_data[0]
        return data

    async def read(self) -> bytes:
        """Bytes of a tunnel."""
        return await self._reader.read(PIECE_BYTES)

    async def write(self, data: bytes) -> None:
        """Bytes of a tunnel."""
        self._writer.write(data)
        await self._writer.drain()


async def _first_done(*directions: object) -> None:
    """Run both directions of a tunnel until one has ended."""
    tasks = [asyncio.ensure_future(direction) for direction in directions]  # type: ignore[call-overload]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tokens(value: bytes) -> list[bytes]:
    return [token.strip().lower() for token in value.split(b",")]


def _authority(text: str) -> tuple[str, int]:
    """Host and port of a CONNECT. Raises `AddressForbidden` (`port`) for what is neither."""
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and len(port) < 6):
        raise AddressForbidden("The browser asked for no host and port.", reason="port")
    return host, int(port)


def _host_and_port(url: str) -> tuple[str, int]:
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return url, 0
    return parsed.hostname.strip("[]"), int(parsed.port or (443 if parsed.protocol == "https:" else 80))
