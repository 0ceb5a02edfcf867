"""The meta refresh of a page: a redirect written into the document (HTML standard, 4.2.5.3 "refresh")."""

from __future__ import annotations

import re

from lxml.etree import _Element as HtmlElement

from service.extraction.urls import resolve_web

MAX_DELAY = 30
"""Seconds of delay up to which a refresh is a redirect; longer ones reload a page that is meant to be read."""

_CONTENT = re.compile(
    r"^\s*+(\d{1,9})?+\d*+(?:\.[\d.]*+)?\s*+(?:[;,]\s*+)?(?:url\s*+=\s*+)?[\"']?\s*+([^\"'\s>\d][^\"'\s>]*+)", re.I
)


def find_refresh(root: HtmlElement, base: str | None) -> str | None:
    """The absolute address a page sends its reader to, also from `noscript`, quoted or not; None without one."""
    for element in root.iter("meta"):
        if (element.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        match = _CONTENT.match(element.get("content") or "")
        if match and int(match.group(1) or 0) <= MAX_DELAY:
            address = resolve_web(base, match.group(2))
            if address and address.partition("#")[0] != (base or "").partition("#")[0]:
                return address
    return None
