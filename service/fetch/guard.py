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
    """A list of CIDRs and host patterns, as in `egress.allow` and `egress.deny`: the settings have checked each."""

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
        forms = (address, getattr(address, "ipv4_mapped", None) or address)
        return any(form in network for form in forms for network in self.networks)


class Guard:
    """The egress policy. `resolver` replaces the system's, for tests and for other DNS clients."""

    def __init__(self, egress: Egress, fetch: Fetch, resolver: Resolver | None = None) -> None:
        self._ports = egress.ports
        self._allow = Rules(egress.allow)
        self._deny = Rules(egress.deny)
        self._seconds = fetch.dns_seconds
        # getaddrinfo cannot be cancelled: 12 silent look-ups held the shared pool for 7 seconds.
        self._pool = ThreadPoolExecutor(fetch.dns_threads, thread_name_prefix="dns")
        self._resolver = resolver or self._getaddrinfo

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The checked addresses of a host, to connect to as they stand. `host` is a name or a bare literal.

        Raises `AddressForbidden` (`port`, `hostname`, `address`), `UpstreamError` (`dns`) or
        `UpstreamTimeout` (`dns_timeout`).
        """
        name = host.lower().rstrip(".")
        if port not in self._ports:
            raise AddressForbidden(f"Port {port} is not allowed.", reason="port")
        if self._deny.has_host(name):
            raise AddressForbidden(f"The host {host!r} is denied by the egress policy.", reason="hostname")
        literal = _parse(name)
        trusted = self._allow.has_host(name)
        # A private name may lead into a network that the operator allows, but nowhere else.
        private = literal is None and not trusted and ("." not in name or name.endswith(_PRIVATE_SUFFIXES))
        unknown = AddressForbidden(f"The host {host!r} is no public name.", reason="hostname")
        if private and not self._allow.networks:
            raise unknown
        try:
            found = [literal] if literal is not None else await self._look_up(name, port)
        except (UpstreamError, UpstreamTimeout) as failure:
            raise (unknown if private else failure) from None
        for address in found:
            if self._deny.has_address(address):
                raise AddressForbidden(f"The host {host!r} leads to {address}, which is denied.", reason="address")
            if trusted or self._allow.has_address(address):
                continue
            if private:
                raise unknown
            if not is_public(address):
                raise AddressForbidden(f"The host {host!r} leads to {address}, which is not public.", reason="address")
        return tuple(map(str, found))

    def close(self) -> None:
        """Let go of the look-up threads without waiting for silent ones."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _look_up(self, name: str, port: int) -> list[Address]:
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
        return [_address(name, text) for text in dict.fromkeys(map(str, found))]

    async def _getaddrinfo(self, name: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        answers = await loop.run_in_executor(
            self._pool, lambda: socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        )
        return [str(answer[4][0]) for answer in answers]


def _address(name: str, text: str) -> Address:
    address = _parse(text)
    if address is None:
        raise AddressForbidden(f"The host {name!r} leads to {text!r}, which is no address.", reason="address")
    return address


def _parse(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
