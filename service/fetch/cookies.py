"""Cookies of one visit: what an origin sets on a hop goes back to it on the next, and nowhere after.

The standard library's jar decides by RFC 2965 and Netscape rules which host gets what. Values pass as
Latin-1 text both ways, so that any bytes an origin sets (raw UTF-8 is common) return unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from email.message import Message
from http.cookiejar import CookieJar
from typing import Any, cast
from urllib.request import Request


class Cookies:
    """A jar that lives as long as one chain of redirects."""

    def __init__(self) -> None:
        self._jar = CookieJar()

    def header_for(self, url: str) -> bytes | None:
        """The Cookie field value for a request to a normalized URL, if there are cookies for it."""
        request = Request(url)
        self._jar.add_cookie_header(request)
        value = request.get_header("Cookie")
        return value.encode("latin-1") if value else None

    def keep(self, url: str, fields: Iterable[tuple[bytes, bytes]]) -> None:
        """Take the cookies that a response from this URL sets in its header fields."""
        message = Message()
        for name, value in fields:
            if name.lower() == b"set-cookie":
                message["Set-Cookie"] = value.decode("latin-1")
        if message:
            self._jar.extract_cookies(cast(Any, _Answer(message)), Request(url))


class _Answer:
    """The one method that the jar wants of a response."""

    def __init__(self, message: Message) -> None:
        self._message = message

    def info(self) -> Message:
        return self._message
