"""Connections that go to the checked address and nowhere else, and whose bytes are counted on the socket."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2

from service.failures import UpstreamError
from service.fetch.guard import Guard
from service.fetch.upstream import UpstreamProxy


class Budget:
    """What one visit may still read off its sockets: heads, framing and redirects included.

    `wire_bytes` is for the visit, `head_bytes` for each response head with the 1xx answers before it.
    `dials` counts the connections the visit opened itself, which tells a fresh one from a kept one.
    """

    def __init__(self, wire_bytes: int, head_bytes: int) -> None:
        self.left = wire_bytes
        self.dials = 0
        self._head_bytes = head_bytes
        self._head_left: int | None = None

    @contextmanager
    def head(self) -> Iterator[None]:
        """While a response head is awaited."""
        self._head_left = self._head_bytes
        try:
            yield
        finally:
            self._head_left = None

    def check_head(self) -> None:
        """Raises `UpstreamError` (`headers`) when a head that goes on has used up its bytes."""
        if self._head_left is not None and self._head_left <= 0:
            raise UpstreamError("The response's head is too large.", reason="headers")

    def spend(self, count: int) -> None:
        """Count bytes; raises `UpstreamError` (`wire_bytes`) when the budget is spent."""
        self.left -= count
        if self._head_left is not None:
            self._head_left -= count
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
        budget = current_budget.get()
        if budget is not None:
            budget.check_head()
        data = await self._stream.read(max_bytes, timeout)
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
    """Resolves and checks once, then dials the very addresses that were checked, one after another.

    `proxy` is the address of an HTTP proxy to dial through.
    """

    def __init__(self, guard: Guard, proxy: str | None = None) -> None:
        self._guard = guard
        direct = httpcore2.AnyIOBackend()
        self._dialer = direct if proxy is None else UpstreamProxy(proxy, direct)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to a host by its checked addresses, within `timeout` seconds for all of them.

        Raises what the guard raises, or the last address's connect error.
        """
        *others, last = await self._guard.resolve(host, port)
        budget = current_budget.get()
        if budget is not None:
            budget.dials += 1
        clock = asyncio.get_running_loop().time
        end = None if timeout is None else clock() + timeout
        for address in others:
            # A silent address may take half of what is left: the ones after it must have their turn.
            share = None if end is None else (end - clock()) / 2
            try:
                return MeteredStream(
                    await self._dialer.connect_tcp(address, port, share, local_address, socket_options)
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        left = None if end is None else end - clock()
        return MeteredStream(await self._dialer.connect_tcp(last, port, left, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        """Wait, as the pool asks between retries."""
        await self._dialer.sleep(seconds)
