"""The static tier: one address to one response, over at most a few hops, inside one deadline.

httpcore2's pool is used directly, not httpx2's client over it: what the client adds (redirects,
decoding, proxies from the environment) must be done here anyway, each hop guarded and each byte
counted, and it raises errors outside its own hierarchy for an odd Location. HTTP/1.1 only: a
dripping HTTP/2 origin stays in a pool after its stream is cancelled and holds up the next request.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpcore2

from service.failures import Failure, UpstreamError, UpstreamTimeout
from service.fetch.coding import ACCEPT_ENCODING, decoder_for
from service.fetch.cookies import Cookies
from service.fetch.guard import Guard
from service.fetch.network import Budget, PinnedBackend, current_budget
from service.fetch.url import DEFAULT_PORTS, Target, hop, normalize
from service.settings import Settings

REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""Statuses that send the reader elsewhere when they carry a Location (RFC 9110, section 15.4)."""

MAX_RETRY_AFTER = 86_400
"""Longest wait passed on, a day in seconds: beyond it an origin says "never", or jokes."""

HEAD_TOO_LARGE = 431
"""What h11 hints at when a head outgrows its own buffer of 100 KiB (RFC 6585, section 5)."""


MAX_DETAIL_CHARS = 200
"""Most that is quoted of a parser's complaint, which may quote the origin at length."""


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
        self.backend = PinnedBackend(self.guard, settings.egress.proxy)
        self.pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or ssl.create_default_context(),
            max_connections=settings.fetch.max_connections,
            max_keepalive_connections=settings.fetch.max_connections,
            keepalive_expiry=settings.fetch.keepalive_seconds,
            network_backend=self.backend,
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
        self._ports = tier.settings.egress.ports
        self._budget = Budget(self._limits.max_wire_bytes, self._limits.max_header_bytes)
        self._cookies = Cookies()
        self._hops = 0
        self._url: str | None = None

    async def get(self, url: str) -> Response:
        """Fetch an address, following its HTTP redirects, each hop normalized and guarded anew.

        A status of 400 or more is returned, not raised. Raises `InvalidRequest`, `AddressForbidden`,
        `UpstreamError` (`dns`, `connect`, `tls`, `fetch`, `headers`, `encoding`, `wire_bytes`,
        `url_bad_char`, `url_invalid`) or `UpstreamTimeout` (`deadline`, `redirects`, `dns_timeout`,
        `connect_timeout`, `read_timeout`).
        """
        try:
            target = normalize(url, self._ports)
        except Failure as failure:
            failure.url = url
            raise
        return await self._in_time(target)

    async def follow(self, reference: str) -> Response:
        """Fetch what the last page refreshes to: one more redirect, relative to that page. Raises as `get`."""
        if self._url is None:
            raise ValueError("follow() continues a visit: call get() first")
        return await self._in_time(self._next(self._url, reference))

    async def _in_time(self, target: Target) -> Response:
        """The one place where anything raised on the way gets a name; cancellation passes."""
        token = current_budget.set(self._budget)
        scope = asyncio.timeout_at(self._deadline)
        try:
            async with scope:
                return await self._chain(target)
        except Failure as failure:
            failure.url = failure.url or self._url
            raise
        except Exception as error:
            raise _named(error, self._url, expired=scope.expired()) from error
        finally:
            current_budget.reset(token)

    async def _chain(self, target: Target) -> Response:
        while True:
            self._url = target.href
            answer = await self._hop(target)
            if isinstance(answer, Response):
                return answer
            target = self._next(target.href, answer)

    def _next(self, base: str, reference: str) -> Target:
        """The address of one more hop; failures name the page that leads there."""
        self._hops += 1
        if self._hops > self._limits.max_redirects:
            raise UpstreamTimeout(
                f"Too many redirects (over {self._limits.max_redirects}).", reason="redirects", url=base
            )
        try:
            return hop(base, reference, self._ports)
        except Failure as failure:
            failure.url = base
            raise

    async def _hop(self, target: Target) -> Response | str:
        """One request: its response, or the Location it redirects to."""
        async with AsyncExitStack() as stack:
            answer = await self._answer(stack, target)
            if sum(len(name) + len(value) for name, value in answer.headers) > self._limits.max_header_bytes:
                raise UpstreamError("The response's head is too large.", reason="headers")
            headers = _fields(answer.headers)
            self._cookies.keep(target.href, answer.headers)
            if answer.status in REDIRECTS and headers.get("location"):
                if headers.get("content-length") == "0":
                    await answer.aread()  # nothing to read, but the connection counts as free for the next hop
                return _location(headers["location"])
            body, truncated = await self._body(answer, headers)
            return Response(target.href, answer.status, headers.get("content-type"), headers, body, truncated)

    async def _answer(self, stack: AsyncExitStack, target: Target) -> httpcore2.Response:
        while True:
            dials = self._budget.dials
            try:
                with self._budget.head():
                    return await stack.enter_async_context(self._request(target))
            except (httpcore2.RemoteProtocolError, httpcore2.ReadError, httpcore2.WriteError):
                # A kept connection may be closed by its origin at the moment it is used again. It is gone
                # from the pool now, so this ends at the latest with a fresh one, whose errors count.
                if self._budget.dials > dials:
                    raise

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
        headers = [
            (b"Host", (host if target.port == DEFAULT_PORTS[target.scheme] else f"{host}:{target.port}").encode()),
            (b"User-Agent", fetch.user_agent.encode()),
            (b"Accept", fetch.accept.encode()),
            (b"Accept-Language", fetch.accept_language.encode()),
            (b"Accept-Encoding", ACCEPT_ENCODING.encode()),
        ]
        cookie = self._cookies.header_for(target.href)
        if cookie is not None:
            headers.append((b"Cookie", cookie))
        timeout = {
            "connect": fetch.connect_seconds,
            "read": fetch.read_seconds,
            "write": fetch.read_seconds,
            "pool": None,  # bounded by the deadline
        }
        return self._tier.pool.stream(
            b"GET",
            httpcore2.URL(
                scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
            ),
            headers=headers,
            # A name's trailing dot is for the resolver; certificates and SNI go without (RFC 6066, section 3).
            extensions={"timeout": timeout, "sni_hostname": target.host.rstrip(".")},
        )


def _fields(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Header fields by lower-case name: repeated ones as one list (RFC 9110, section 5.3), but the first
    Location, and the last Content-Type (Fetch standard, "extract a MIME type").
    """
    fields: dict[str, str] = {}
    for key, text in raw:
        name, value = key.decode("latin-1").lower(), text.decode("latin-1")
        if name not in fields or name == "content-type":
            fields[name] = value
        elif name != "location":
            fields[name] += f", {value}"
    return fields


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
    """A Location with its bytes beyond ASCII escaped one by one, in whatever encoding they are, as Chromium does."""
    return "".join(char if char.isascii() else f"%{ord(char):02X}" for char in value)


def _named(error: Exception, url: str | None, *, expired: bool) -> Failure:
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
        if getattr(cause, "error_status_hint", None) == HEAD_TOO_LARGE:
            return UpstreamError("The response's head is too large.", reason="headers", url=url)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore2.ConnectError):
        return UpstreamError("The site refused the connection.", reason="connect", url=url)
    detail = str(error)[:MAX_DETAIL_CHARS] or type(error).__name__
    return UpstreamError(f"The site broke HTTP or the connection: {detail}", reason="fetch", url=url)
