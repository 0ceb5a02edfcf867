"""The address after `/read/`, its own query string and percent-encoding kept byte for byte."""

from __future__ import annotations

from urllib.parse import quote_from_bytes, unquote_to_bytes

from starlette.requests import Request

from service.failures import InvalidRequest

_ASCII = bytes(range(0x80)).decode()


def target_of(request: Request) -> str:
    """The address that `GET /read/<url>` names, also with one slash after its scheme or encoded as a whole.

    Raises `InvalidRequest` when there is none.
    """
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    target = as_ascii(raw.partition(b"/read/")[2])
    query = as_ascii(request.scope.get("query_string", b""))
    if "://" not in target and "%3a" in target[:12].lower():
        target = as_ascii(unquote_to_bytes(target))
    for scheme in ("http:", "https:"):  # proxies fold `//` in paths
        if target.lower().startswith(scheme) and not target.lower().startswith(f"{scheme}//"):
            target = f"{scheme}//{target[len(scheme) :].lstrip('/')}"
    if not target:
        raise InvalidRequest("Write the address after /read/.", reason="url")
    return f"{target}?{query}" if query else target


def as_ascii(raw: bytes) -> str:
    """Bytes of an address as text; those beyond ASCII percent-encoded, the rest as they are."""
    return quote_from_bytes(raw, safe=_ASCII)
