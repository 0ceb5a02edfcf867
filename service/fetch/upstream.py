"""Dialling through the operator's own proxy: CONNECT to the very address that was checked.

For plain HTTP as well: a proxy that is given a name resolves it anew, and past the guard.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

import h11
import httpcore2

from service.failures import UpstreamError

MAX_HEAD_BYTES = 16_384
"""Longest head of a proxy's answer to CONNECT."""


class UpstreamProxy(httpcore2.AsyncNetworkBackend):
    """Connections through the HTTP proxy at `url` (`http://[user:password@]host[:port]`)."""

    def __init__(self, url: str, dialer: httpcore2.AsyncNetworkBackend) -> None:
        parsed = urlsplit(url)
        self._host, self._port = parsed.hostname or "", parsed.port or 80
        self._dialer = dialer
        self._headers: list[tuple[str, str]] = []
        if parsed.username is not None:
            secret = f"{unquote(parsed.username)}:{unquote(parsed.password or '')}"
            self._headers.append(("Proxy-Authorization", f"Basic {b64encode(secret.encode()).decode()}"))

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A tunnel to an address, within `timeout` seconds.

        Raises httpcore2's `ConnectError` and `ConnectTimeout`, or `UpstreamError` (`proxy`) when the proxy refuses.
        """
        try:
            async with asyncio.timeout(timeout):
                stream = await self._dialer.connect_tcp(self._host, self._port, None, local_address, socket_options)
                try:
                    await self._connect(stream, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
                except BaseException:
                    await stream.aclose()
                    raise
                return stream
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout from error

    async def _connect(self, stream: httpcore2.AsyncNetworkStream, authority: str) -> None:
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        request = h11.Request(method="CONNECT", target=authority, headers=[("Host", authority), *self._headers])
        try:
            await stream.write(http.send(request) or b"")
            await stream.write(http.send(h11.EndOfMessage()) or b"")
            while True:
                event = http.next_event()
                if event is h11.NEED_DATA:
                    http.receive_data(await stream.read(4096))
                elif isinstance(event, h11.Response):
                    break
                elif not isinstance(event, h11.InformationalResponse):
                    raise UpstreamError("The upstream proxy closed the connection.", reason="proxy")
        except (h11.ProtocolError, httpcore2.NetworkError) as error:
            raise UpstreamError(f"The upstream proxy broke the connection: {error}", reason="proxy") from error
        if not 200 <= event.status_code < 300:
            raise UpstreamError(f"The upstream proxy refused the connection: {event.status_code}.", reason="proxy")
        if http.trailing_data[0]:
            raise UpstreamError("The upstream proxy spoke before its turn.", reason="proxy")

    async def sleep(self, seconds: float) -> None:
        """Wait, as a pool asks between retries."""
        await self._dialer.sleep(seconds)
