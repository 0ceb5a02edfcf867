"""The static tier: one address to one response, over at most a few hops, inside one deadline.

httpcore2's pool is used directly: what its clients add (redirects, decoding, proxies from the
environment) must be done here anyway, each hop guarded and each byte counted. HTTP/1.1 only: a
dripping HTTP/2 origin stays in a pool after its stream is cancelled and holds up the next request.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpcore2
import httpx2

from service.failures import AddressForbidden, Failure, InvalidRequest, UpstreamError, UpstreamTimeout
from service.fetch.coding import decoder_for
from service.fetch.guard import Guard
from service.fetch.network import Budget, PinnedBackend, current_budget
from service.fetch.url import Target, join, normalize
from service.settings import Settings

REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""Statuses that send the reader elsewhere when they carry a Location (RFC 9110, section 15.4)."""

READ_BYTES = 65_536
MAX_RETRY_AFTER = 86_400


@dataclass(frozen=True, slots=True)
class Response:
    """What an origin answered: final `url`, `status`, headers by lower-case name, the decoded `body`.

    `truncated` says that the body was longer than `limits.max_body_bytes` and was cut there.
    """

    url: str
    status: int
    content_type: str | None
    headers: Mapping[str, str]
    body: bytes
    truncated: bool


class StaticTier:
    """Fetches pages over one pool of connections. `guard` and `ssl_context` replace the defaults in tests."""

    def __init__(
        self, settings: Settings, guard: Guard | None = None, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self.settings = settings
        self.guard = guard or Guard(settings.egress, settings.fetch)
        self.pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or ssl.create_default_context(),
            max_connections=settings.fetch.max_connections,
            max_keepalive_connections=settings.fetch.max_connections,
            keepalive_expiry=settings.fetch.keepalive_seconds,
            network_backend=PinnedBackend(self.guard),
        )

    def visit(self, deadline: float) -> Visit:
        """A new chain of hops that must end by `deadline`, in the event loop's time (seconds)."""
        return Visit(self, deadline)

    async def aclose(self) -> None:
        """Close every connection."""
        await self.pool.aclose()
        self.guard.close()


class Visit:
    """One caller's chain of hops: its cookies, its count of redirects, its deadline and byte budget."""

    def __init__(self, tier: StaticTier, deadline: float) -> None:
        self._tier = tier
        self._deadline = deadline
        self._limits = tier.settings.limits
        self._budget = Budget(self._limits.max_wire_bytes)
        self._cookies = httpx2.Cookies()
        self._hops = 0
        self._url: str | None = None

    async def get(self, url: str) -> Response:
        """Fetch an address, following its HTTP redirects, each hop normalized and guarded anew.

        A status of 400 or more is returned, not raised. Raises `InvalidRequest`, `AddressForbidden`,
        `UpstreamError` (`dns`, `connect`, `tls`, `fetch`, `headers`, `encoding`, `wire_bytes`, `location`) or
        `UpstreamTimeout` (`deadline`, `redirects`, `dns_timeout`, `connect_timeout`, `read_timeout`).
        """
        target = normalize(url, self._tier.settings.egress.ports)
        token = current_budget.set(self._budget)
        scope = asyncio.timeout_at(self._deadline)
        try:
            async with scope:
                return await self._chain(target)
        except Failure as failure:
            failure.url = failure.url or self._url or url
            raise
        except Exception as error:
            raise _named(error, self._url or url, expired=scope.expired()) from error
        finally:
            current_budget.reset(token)

    async def follow(self, reference: str) -> Response:
        """Fetch what the last page refreshes to: one more redirect, relative to that page."""
        if self._url is None:
            raise ValueError("follow() continues a visit: call get() first")
        return await self.get(self._next(self._url, reference))

    async def _chain(self, target: Target) -> Response:
        while True:
            self._url = target.href
            answer = await self._hop(target)
            if isinstance(answer, Response):
                return answer
            address = self._next(target.href, answer)
            try:
                target = normalize(address, self._tier.settings.egress.ports)
            except InvalidRequest as failure:
                raise UpstreamError(
                    f"The site redirects to an unusable address: {failure.message}", reason="location", url=target.href
                ) from None

    def _next(self, base: str, reference: str) -> str:
        self._hops += 1
        if self._hops > self._limits.max_redirects:
            raise UpstreamTimeout(
                f"Too many redirects (over {self._limits.max_redirects}).", reason="redirects", url=base
            )
        address = join(base, reference)
        if address is None:
            raise UpstreamError("The site redirects to an unusable address.", reason="location", url=base)
        if not address.startswith(("http:", "https:")):
            scheme = address.partition(":")[0]
            raise AddressForbidden(f"The site redirects to {scheme!r}, which is not read.", reason="scheme", url=base)
        return address

    async def _hop(self, target: Target) -> Response | str:
        """One request: its response, or the Location it redirects to."""
        async with AsyncExitStack() as stack:
            try:
                answer = await stack.enter_async_context(self._request(target))
            except (httpcore2.RemoteProtocolError, httpcore2.ReadError, httpcore2.WriteError):
                # A kept connection may be closed by its origin at the moment it is used again.
                answer = await stack.enter_async_context(self._request(target))
            if sum(len(name) + len(value) for name, value in answer.headers) > self._limits.max_header_bytes:
                raise UpstreamError("The response's head is too large.", reason="headers")
            headers: dict[str, str] = {}
            for name, value in answer.headers:
                headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
            self._keep_cookies(target, answer)
            if answer.status in REDIRECTS and headers.get("location"):
                return _location(headers["location"])
            body, truncated = await self._body(answer, headers)
            return Response(target.href, answer.status, headers.get("content-type"), headers, body, truncated)

    async def _body(self, answer: httpcore2.Response, headers: Mapping[str, str]) -> tuple[bytes, bool]:
        decoder = decoder_for(headers.get("content-encoding"))
        cap = self._limits.max_body_bytes
        body = bytearray()
        async for piece in answer.aiter_stream():
            body += decoder.feed(piece, cap + 1 - len(body))
            if len(body) > cap:
                return bytes(body[:cap]), True
        decoder.finish()
        return bytes(body), False

    def _request(self, target: Target) -> AbstractAsyncContextManager[httpcore2.Response]:
        fetch = self._tier.settings.fetch
        host = f"[{target.host}]" if ":" in target.host else target.host
        default = {"http": 80, "https": 443}[target.scheme]
        plain = httpx2.Request("GET", target.href)
        self._cookies.set_cookie_header(plain)
        headers = {
            "Host": host if target.port == default else f"{host}:{target.port}",
            "User-Agent": fetch.user_agent,
            "Accept": fetch.accept,
            "Accept-Language": fetch.accept_language,
            "Accept-Encoding": "gzip, deflate, br, zstd",
        }
        if "cookie" in plain.headers:
            headers["Cookie"] = plain.headers["cookie"]
        url = httpcore2.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode("ascii"),
            port=target.port,
            target=target.path.encode("ascii"),
        )
        timeout = {
            "connect": fetch.connect_seconds,
            "read": fetch.read_seconds,
            "write": fetch.read_seconds,
            "pool": None,
        }
        return self._tier.pool.stream(
            b"GET",
            url,
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            extensions={"timeout": timeout},
        )

    def _keep_cookies(self, target: Target, answer: httpcore2.Response) -> None:
        if any(name.lower() == b"set-cookie" for name, _ in answer.headers):
            request = httpx2.Request("GET", target.href)
            self._cookies.extract_cookies(httpx2.Response(answer.status, headers=answer.headers, request=request))


def retry_after(headers: Mapping[str, str]) -> int | None:
    """Seconds of a Retry-After header, given in seconds or as a date (RFC 9110, section 10.2.3); at most a day."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(int(value[:9]), MAX_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0, min(round(moment - time.time()), MAX_RETRY_AFTER))


def _location(value: str) -> str:
    """A Location as text: header bytes that are UTF-8 are read so, as browsers do."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return value


def _named(error: Exception, url: str, *, expired: bool) -> Failure:
    """The named failure of whatever a connection, a parser or the clock raised."""
    if expired:
        return UpstreamTimeout("The time budget was spent before the page was read.", reason="deadline", url=url)
    if isinstance(error, httpcore2.ConnectTimeout):
        return UpstreamTimeout("The site did not accept a connection in time.", reason="connect_timeout", url=url)
    if isinstance(error, httpcore2.TimeoutException):
        return UpstreamTimeout("The site fell silent.", reason="read_timeout", url=url)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            detail = getattr(cause, "verify_message", None) or cause.reason or "handshake failed"
            return UpstreamError(f"No secure connection to the site: {detail}.", reason="tls", url=url)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore2.ConnectError):
        return UpstreamError("The site refused the connection.", reason="connect", url=url)
    if "too long" in str(error) or "buffer" in str(error).lower():
        return UpstreamError("The response's head is too large.", reason="headers", url=url)
    return UpstreamError(
        f"The site broke HTTP or the connection: {error or type(error).__name__}", reason="fetch", url=url
    )
