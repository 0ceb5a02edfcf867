"""The static tier and the guard: what is sent, how long it may take, what may be reached."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from service.settings.section import Section

_HOST_PATTERN = re.compile(r"[A-Za-z0-9_.*?-]+")  # names as they are looked up: ASCII, punycode


class Fetch(Section):
    """The static tier: what it sends, how long it waits."""

    user_agent: str = Field("Bonmun/0.1 (+https://github.com/bonmun/bonmun)", min_length=1, pattern=r"^[\x20-\x7e]+$")
    accept: str = Field(
        "text/markdown;q=0.9, text/html, application/xhtml+xml, application/xml;q=0.9, "
        "application/feed+json;q=0.9, */*;q=0.5",
        pattern=r"^[\x20-\x7e]+$",
    )
    accept_language: str = Field("ko,en;q=0.8,*;q=0.5", pattern=r"^[\x20-\x7e]+$")
    connect_seconds: float = Field(5, gt=0)
    read_seconds: float = Field(5, gt=0)
    dns_seconds: float = Field(3, gt=0)
    dns_threads: int = Field(32, gt=0, le=512)
    max_connections: int = Field(100, gt=0)
    keepalive_seconds: float = Field(30, ge=0)


def _rule(entry: str) -> str:
    """A CIDR or a host pattern as it stands; a denied network with a slip in it must not match nothing."""
    try:
        ipaddress.ip_network(entry, strict=False)
    except ValueError:
        if not _HOST_PATTERN.fullmatch(entry):
            raise ValueError("neither a network such as 10.0.0.0/8 nor a host pattern such as *.example") from None
    return entry


Rule = Annotated[str, AfterValidator(_rule)]


def _proxy(url: str) -> str:
    """The address of an HTTP proxy, as it stands."""
    parsed = urlsplit(url)
    if parsed.scheme != "http" or not parsed.hostname or parsed.path.strip("/") or parsed.query:
        raise ValueError("no address of an HTTP proxy such as http://proxy.example:3128")
    try:
        _ = parsed.port
    except ValueError:
        raise ValueError("no address of an HTTP proxy: its port is no number up to 65535") from None
    return url


Proxy = Annotated[str, AfterValidator(_proxy)]


class Egress(Section):
    """What may be reached. `allow` and `deny` hold CIDRs or host patterns such as `*.example`."""

    ports: tuple[int, ...] = (80, 443)
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    proxy: Proxy | None = None
