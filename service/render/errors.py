"""Chromium's network errors as named failures: the same names as the static tier has for the same thing."""

from __future__ import annotations

import re
from collections.abc import Mapping

import ada_url

from service.failures import AddressForbidden, ExtractFailed, Failure, UpstreamError, UpstreamTimeout
from service.fetch.url import DEFAULT_PORTS

_CODE = re.compile(r"net::(ERR_[A-Z0-9_]+)")


class NotRendered(Exception):
    """A browser has no document for this (a download, a viewer): the static tier can say what it is."""


def failure_of_navigation(message: str, url: str, noted: Mapping[tuple[str, int], Failure]) -> Failure | NotRendered:
    """What went wrong on the way to `url`: what our proxy noted of its host, else what Chromium's error says."""
    if "Download is starting" in message or "ERR_ABORTED" in message:
        return NotRendered()  # an attachment, no content, a redirect that Chromium does not follow
    if "crash" in message.lower():
        return ExtractFailed("The page crashed its browser process.", reason="crash", url=url)
    try:
        parsed = ada_url.URL(url)
        place = parsed.hostname.strip("[]"), int(parsed.port or DEFAULT_PORTS.get(parsed.protocol.rstrip(":"), 0))
    except ValueError:
        place = "", 0
    failure = noted.get(place)
    if failure is None:
        found = _CODE.search(message)
        failure = _of_code(found.group(1) if found else "")
    failure.url = url
    return failure


def _of_code(code: str) -> Failure:
    """A failure for each family of `net/base/net_error_list.h` that a navigation can end with."""
    if code in ("ERR_UNSAFE_REDIRECT", "ERR_UNKNOWN_URL_SCHEME", "ERR_DISALLOWED_URL_SCHEME"):
        return AddressForbidden("The site redirects to an address that is neither http nor https.", reason="scheme")
    if code == "ERR_INVALID_REDIRECT":
        return UpstreamError("The site redirects to no valid address.", reason="url_invalid")
    if code == "ERR_UNSAFE_PORT":
        return AddressForbidden("The site redirects to a port that is not allowed.", reason="port")
    if code == "ERR_TOO_MANY_REDIRECTS":
        return UpstreamTimeout("Too many redirects.", reason="redirects")
    if code.startswith(("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL")):
        return UpstreamError(f"No secure connection to the site: {_words(code)}.", reason="tls")
    if code in ("ERR_TIMED_OUT", "ERR_CONNECTION_TIMED_OUT"):
        return UpstreamTimeout("The time budget was spent before the page was read.", reason="deadline")
    return UpstreamError(f"The site broke HTTP or the connection: {_words(code) or 'no answer'}.", reason="fetch")


def _words(code: str) -> str:
    return code.removeprefix("ERR_").replace("_", " ").lower()
