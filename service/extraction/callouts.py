"""Call-outs (notes, tips, warnings): which elements are one, and which is its title."""

from __future__ import annotations

import re

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import text_within

MAX_CHARS = 3_000
"""Longest call-out; what is longer and named like one is a page's layout."""

_TAGS = frozenset(("div", "aside", "section"))
_NAME = re.compile(r"(?:^|[\s_-])(?:admonition|call-?out|markdown-alert)(?:$|[\s_-])", re.I)
_TITLE = re.compile(r"(?:admonition|call-?out|alert)[\w-]*(?:title|heading|header|label)", re.I)


def is_call_out(element: HtmlElement) -> bool:
    """Whether an element is a call-out: named so, short, without a heading of the page's own."""
    return (
        element.tag in _TAGS
        and _NAME.search(element.get("class") or "") is not None
        and text_within(element, MAX_CHARS) is not None
        and next(element.iter("h1", "h2"), None) is None
    )


def is_title(element: HtmlElement) -> bool:
    """Whether an element inside a call-out is its title."""
    return _TITLE.search(element.get("class") or "") is not None
