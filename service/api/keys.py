"""API keys: made here, kept as hashes, and asked of whoever wants a page.

A key holds 256 random bits, so that a plain SHA-256 of it cannot be turned back: slow hashes are for passwords.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.errors import failure_answer
from service.failures import Unauthorized

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})
"""What needs no key: probes cannot keep one, and the documentation says how to send one."""

_PREFIX = "bonmun_"  # lets scanners for leaked secrets know one


def new_key() -> str:
    """A new key of 256 random bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def hash_of(key: str) -> str:
    """The key as the settings keep it."""
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class KeyRequired:
    """Answers 401 where keys are set and the request has none of them, as `Bearer` (RFC 6750) or `X-API-Key`.

    The name of the key is left in the request's state as `key`.
    """

    def __init__(self, app: ASGIApp, keys: Mapping[str, str]) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event."""
        if scope["type"] != "http" or not self.keys or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        try:
            state["key"] = self._name_of(_sent(Headers(scope=scope)))
        except Unauthorized as failure:
            state["code"] = failure.code
            await failure_answer(failure)(scope, receive, _challenging(send, failure))
            return
        await self.app(scope, receive, send)

    def _name_of(self, key: str | None) -> str:
        if key is None:
            raise Unauthorized(
                "This service asks for a key: send `Authorization: Bearer KEY` or `X-API-Key: KEY`.", reason="missing"
            )
        hashed, found = hash_of(key), None
        for name, known in self.keys.items():  # all of them, in constant time each: the time tells nothing
            if hmac.compare_digest(hashed, known):
                found = name
        if found is None:
            raise Unauthorized("This service does not know that key.", reason="unknown")
        return found


def _sent(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key", "").strip() or None


def _challenging(send: Send, failure: Unauthorized) -> Send:
    async def challenge(message: Message) -> None:
        if message["type"] == "http.response.start":  # RFC 6750, section 3: no error where no key was sent
            error = ', error="invalid_token"' if failure.reason == "unknown" else ""
            MutableHeaders(scope=message)["WWW-Authenticate"] = f'Bearer realm="bonmun"{error}'
        await send(message)

    return challenge
