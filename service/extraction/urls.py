"""Addresses found in a page, made absolute by the WHATWG rules."""

from __future__ import annotations

import re

import ada_url
from lxml.etree import _Element as HtmlElement

_LINK_SCHEMES = ("http:", "https:", "mailto:", "tel:")
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.\-]*:")
MAX_NAME_CHARS = 300
"""End of a file's name that is looked at; file systems allow 255 bytes."""

MAX_ADDRESS_CHARS = 8_192
"""Longest address that is followed; servers take 8 KB of request line."""

_FILE_NAME = re.compile(r"(.*)\.(?:gif|png|svg|jpe?g|webp)", re.I | re.S)
_STAND_INS = frozenset(
    "blank spacer placeholder pixel transparent loading loader lazy lazyload 1x1 grey gray dummy noimage noimg".split()
)
_BESIDE = frozenset(
    "no image img images default icon spinner thumb thumbnail px bg background photo picture small".split()
)


def resolve(base: str | None, reference: str | None) -> str | None:
    """The absolute form of a link's `reference`, or None when it leads nowhere a reader can go.

    Without a base a relative reference stays as it is. `javascript:`, `data:` and broken references give None.
    """
    reference = (reference or "").strip()
    if not reference:
        return None
    if _SCHEME.match(reference) and not reference.lower().startswith(_LINK_SCHEMES):
        return None
    try:
        absolute = ada_url.join_url(base, reference) if base else ada_url.URL(reference).href
    except ValueError:
        return reference if not base and not _SCHEME.match(reference) and not re.search(r"\s", reference) else None
    return absolute if len(absolute) <= MAX_ADDRESS_CHARS and absolute.startswith(_LINK_SCHEMES) else None


def resolve_web(base: str | None, reference: str | None) -> str | None:
    """Like `resolve`, for what is loaded, not followed: http and https only."""
    absolute = resolve(base, reference)
    return None if absolute is None or absolute.startswith(("mailto:", "tel:")) else absolute


def base_of(root: HtmlElement, url: str | None) -> str | None:
    """The document's base: its first `<base href>` resolved against `url`, else `url` (HTML standard, 4.2.3)."""
    for element in root.iter("base"):
        if element.get("href") is not None:
            return resolve_web(url, element.get("href")) or url
    return url


def is_placeholder(address: str) -> bool:
    """Whether an image address is that of a stand-in: a spacer, a loading animation.

    Its file is named as one and as nothing else: `blank-600x400.gif` is one, `loading-dock.jpg` is a dock.
    """
    name = _FILE_NAME.fullmatch(address.partition("?")[0].rpartition("/")[2][-MAX_NAME_CHARS:])
    if name is None:
        return False
    words = [word for word in re.split(r"[-_.\s]+", name.group(1).lower()) if word]
    sure = [word for word in words if word in _STAND_INS]
    others = [word for word in words if word not in _STAND_INS and word not in _BESIDE]
    plain = not any(re.search(r"[^\dx]", word) for word in others)
    return plain and (bool(sure) or words[:2] in (["no", "image"], ["no", "img"], ["no", "photo"]))
