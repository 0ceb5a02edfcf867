"""What may be reached: host names and resolved addresses against the egress policy, decided at connect time.

One guard serves both tiers. A name is resolved once, every address it gives must be allowed, and the
caller connects to the very addresses returned here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

from service.failures import AddressForbidden, UpstreamError, UpstreamTimeout
from service.fetch.address import Address, is_public
from service.settings import Egress, Fetch

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host name; raises OSError when there are none."""

_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".corp", ".home")
"""Names that no public host has: RFC 6761, RFC 6762, RFC 8375, ICANN's reserved private-use names."""

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Rules:
    """A list of CIDRs and host patterns, as in `egress.allow` and `egress.deny`."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.networks: list[_Network] = []
        self.patterns: list[str] = []
        for entry in entries:
            try:
                self.networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                self.patterns.append(entry.lower().rstrip("."))

    def has_host(self, host: str) -> bool:
        """Whether a host name matches a pattern."""
        return any(fnmatchcase(host, pattern) for pattern in self.patterns)

    def has_address(self, address: Address) -> bool:
        """Whether an address is in one of the networks; a mapped one by the IPv4 address in it."""
        plain = getattr(address, "ipv4_mapped", None) or address
        return any(plain.version == network.version and plain in network for network in self.networks)


class Guard:
    """The egress policy. `resolver` replaces the system's, for tests and for other DNS clients."""

    def __init__(self, egress: Egress, fetch: Fetch, resolver: Resolver | None = None) -> None:
        self._allow = Rules(egress.allow)
        self._deny = Rules(egress.deny)
        self._seconds = fetch.dns_seconds
        # getaddrinfo cannot be cancelled: 12 silent look-ups held the shared pool for 7 seconds.
        self._pool = ThreadPoolExecutor(fetch.dns_threads, thread_name_prefix="dns")
        self._resolver = resolver or self._getaddrinfo

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The checked addresses of a host, to connect to as they stand.

        Raises `AddressForbidden` (`hostname`, `address`), `UpstreamError` (`dns`) or `UpstreamTimeout`
        (`dns_timeout`).
        """
        name = host.lower().rstrip(".")
        literal = _parse(host)
        trusted = self._allow.has_host(name)
        if self._deny.has_host(name):
            raise AddressForbidden(f"The host {host!r} is denied by the egress policy.", reason="hostname")
        # Where the operator allows networks, `localhost` may lead into one; the address decides.
        local = bool(self._allow.networks) and (name == "localhost" or name.endswith(".localhost"))
        if literal is None and not (trusted or local) and ("." not in name or name.endswith(_PRIVATE_SUFFIXES)):
            raise AddressForbidden(f"The host {host!r} is no public name.", reason="hostname")
        texts = [str(literal)] if literal is not None else await self._look_up(name, port)
        for text in texts:
            address = _parse(text)
            if address is None or not self._is_allowed(address, trusted):
                raise AddressForbidden(f"The host {host!r} leads to {text}, which is not allowed.", reason="address")
        return tuple(texts)

    def close(self) -> None:
        """Let go of the look-up threads without waiting for silent ones."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _is_allowed(self, address: Address, trusted: bool) -> bool:
        if self._deny.has_address(address):
            return False
        return trusted or self._allow.has_address(address) or is_public(address)

    async def _look_up(self, name: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._resolver(name, port)
        except TimeoutError:
            raise UpstreamTimeout(
                f"The look-up of {name!r} took over {self._seconds:g} s.", reason="dns_timeout"
            ) from None
        except (OSError, UnicodeError) as error:
            raise UpstreamError(f"The host {name!r} has no address: {error}", reason="dns") from None
        if not found:
            raise UpstreamError(f"The host {name!r} has no address.", reason="dns")
        return list(dict.fromkeys(found))

    async def _getaddrinfo(self, name: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        answers = await loop.run_in_executor(
            self._pool, lambda: socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        )
        return [str(answer[4][0]) for answer in answers]


def _parse(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
