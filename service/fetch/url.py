"""Addresses normalized once, by the WHATWG URL standard, before anything is decided about them.

ada-url agreed with Chromium on 83 of 84 odd spellings; the standard library and HTTP clients do not,
and a guard and a client that read one address differently are a hole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import ada_url

from service.failures import AddressForbidden, InvalidRequest, UpstreamError

DEFAULT_PORTS = {"http": 80, "https": 443}
"""Ports of the schemes that may be read (RFC 9110, section 4.2)."""

MAX_CHARS = 8_192
"""Longest address taken; RFC 9110 section 4.1 asks for at least 8,000 octets."""

# WHATWG strips tab and newline and turns `\` into `/`: two readings of one text. Refused before parsing.
_TRICK = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_SPACE = re.compile(r"[\x20\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_SCHEME = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.\-]*):")

_AUTHORITY = re.compile(r"/*([^/?#]*)")


@dataclass(frozen=True, slots=True)
class Target:
    """A normalized address: `href` without fragment, ASCII `host` (an IPv6 literal without brackets), `port`."""

    href: str
    scheme: str
    host: str
    port: int
    path: str


def normalize(url: str, ports: tuple[int, ...]) -> Target:
    """The one form of an address that everything after works on.

    Raises `InvalidRequest` for what is no http(s) address (`url_bad_char`, `url_invalid`) and
    `AddressForbidden` for a scheme, user info or port outside the policy (`scheme`, `userinfo`, `port`).
    """
    if not url or len(url) > MAX_CHARS:
        raise InvalidRequest(f"The address must have 1 to {MAX_CHARS:,} characters.", reason="url_invalid")
    bad = _TRICK.search(url) or _SPACE.search(url)
    if bad:
        raise InvalidRequest(
            f"The address has {bad.group()!r} at position {bad.start()}: write spaces and control characters as %XX.",
            reason="url_bad_char",
        )
    scheme = _SCHEME.match(url)
    if scheme is None or scheme.group(1).lower() not in DEFAULT_PORTS:
        if scheme is None or "." in scheme.group(1) or re.match(r"^\d+(?:/|$)", url[scheme.end() :]):
            raise InvalidRequest("The address must begin with http:// or https://.", reason="url_invalid")
        raise AddressForbidden(f"Only http and https are read, not {scheme.group(1)!r}.", reason="scheme")
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        raise InvalidRequest("This is no valid http or https address.", reason="url_invalid") from None
    authority = _AUTHORITY.match(url, scheme.end())
    if parsed.username or parsed.password or (authority and "@" in authority.group(1)):
        raise AddressForbidden("An address with a user name or password is not read.", reason="userinfo")
    name = parsed.protocol.rstrip(":")
    port = int(parsed.port) if parsed.port else DEFAULT_PORTS[name]
    if port not in ports:
        allowed = ", ".join(map(str, ports)) or "none"
        raise AddressForbidden(f"Port {port} is not allowed (allowed: {allowed}).", reason="port")
    if not parsed.hostname:
        raise InvalidRequest("The address names no host.", reason="url_invalid")
    parsed.hash = ""
    host = parsed.hostname.strip("[]")
    return Target(parsed.href, name, host, port, (parsed.pathname or "/") + parsed.search)


def hop(base: str, reference: str, ports: tuple[int, ...]) -> Target:
    """The normalized address of a `Location` or a refresh found at `base`.

    Raises what `normalize` raises, but for an unusable address `UpstreamError`, with the same reason
    (`url_bad_char`, `url_invalid`): it is the site's, not the caller's.
    """
    # Spaces in a Location are common and have one reading; control characters and `\` are tricks.
    reference = reference.strip(" \t")
    bad = _TRICK.search(reference)
    if bad:
        raise UpstreamError(f"The site redirects to an address with {bad.group()!r} in it.", reason="url_bad_char")
    try:
        return normalize(str(ada_url.join_url(base, _SPACE.sub(_percent, reference))), ports)
    except ValueError:
        raise UpstreamError("The site redirects to no valid address.", reason="url_invalid") from None
    except InvalidRequest as failure:
        raise UpstreamError(
            f"The site redirects to no usable address. {failure.message}", reason=failure.reason
        ) from None


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())
