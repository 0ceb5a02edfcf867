"""Connections that go to the checked address and nowhere else, and whose bytes are counted on the socket."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

import httpcore2

from service.failures import UpstreamError
from service.fetch.guard import Guard


class Budget:
    """Bytes that one visit may still read off its sockets: heads, framing and redirects included."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def spend(self, count: int) -> None:
        """Count bytes; raises `UpstreamError` (`wire_bytes`) when the budget is spent."""
        self.left -= count
        if self.left < 0:
            raise UpstreamError("The origin sent more bytes than one page may cost.", reason="wire_bytes")


current_budget: ContextVar[Budget | None] = ContextVar("current_budget", default=None)
"""The budget of the visit that the running task reads for; exact for HTTP/1.1, one request a connection."""


class MeteredStream(httpcore2.AsyncNetworkStream):
    """A connection that counts what it reads, so that endless 1xx answers or chunk extensions end."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read, and count it."""
        data = await self._stream.read(max_bytes, timeout)
        budget = current_budget.get()
        if budget is not None:
            budget.spend(len(data))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write as it is."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """TLS over this connection, for the name the URL gave."""
        return MeteredStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._stream.get_extra_info(info)


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves and checks once, then dials the very addresses that were checked, one after another."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._dialer = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to a host by its checked addresses. Raises what the guard raises, or the last connect error."""
        addresses = await self._guard.resolve(host, port)
        for address in addresses[:-1]:
            try:
                return MeteredStream(
                    await self._dialer.connect_tcp(address, port, timeout, local_address, socket_options)
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return MeteredStream(
            await self._dialer.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)
        )

    async def sleep(self, seconds: float) -> None:
        """Wait, as the pool asks between retries."""
        await self._dialer.sleep(seconds)
