"""Addresses found in a page, made absolute by the WHATWG rules."""

from __future__ import annotations

import re

import ada_url
from lxml.etree import _Element as HtmlElement

_LINK_SCHEMES = ("http:", "https:", "mailto:", "tel:")
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.\-]*:")
MAX_NAME_CHARS = 300
"""End of a file's name that is looked at; file systems allow 255 bytes."""

_PLACEHOLDER = re.compile(
    r"(?:^|[/_.-])(?:blank|spacer|placeholder|pixel|transparent|loading|loader|lazy(?:load)?|1x1|grey|dummy|no[-_]?image)"
    r"[^/]*\.(?:gif|png|svg|jpe?g|webp)(?:\?|$)",
    re.I,
)
_SRCSET = re.compile(r"\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s+(\d+(?:\.\d+)?)([wx]))?\s*(?:,|$)")
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-original-src", "data-actualsrc", "data-echo", "data-url")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "srcset")


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
    return absolute if absolute.startswith(_LINK_SCHEMES) else None


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


def image_source(image: HtmlElement, base: str | None) -> str | None:
    """The real address of an `<img>`: lazy attributes, then `src`, then the largest of a source set.

    Placeholders and data URIs are no image; None when nothing else is there.
    """
    for name in (*_LAZY, "src"):
        address = resolve_web(base, image.get(name))
        if address and not is_placeholder(address):
            return address
    for element in (image, *_sources(image)):
        for name in _LAZY_SETS:
            address = resolve_web(base, largest(element.get(name)))
            if address and not is_placeholder(address):
                return address
    return None


def is_placeholder(address: str) -> bool:
    """Whether an image address is that of a stand-in: a spacer, a loading animation."""
    return bool(_PLACEHOLDER.search(address.partition("?")[0].rpartition("/")[2][-MAX_NAME_CHARS:]))


def largest(srcset: str | None) -> str | None:
    """The reference with the largest width or density in a `srcset`."""
    best: tuple[float, str] | None = None
    for match in _SRCSET.finditer(srcset or ""):
        size = float(match.group(2) or 1)
        if best is None or size > best[0]:
            best = (size, match.group(1))
    return best[1] if best else None


def _sources(image: HtmlElement) -> list[HtmlElement]:
    parent = image.getparent()
    return list(parent.findall("source")) if parent is not None and parent.tag == "picture" else []
