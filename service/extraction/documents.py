"""Bodies that are no HTML page: plain text, Markdown, JSON, and feeds. Each becomes elements for the clean tree."""

from __future__ import annotations

import io
import json
import re
import time
from typing import Any

import feedparser
from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import collapse, parse, printable
from service.failures import ExtractFailed

MAX_ENTRIES = 500
"""Entries of a feed that are read; feeds of real sites have 10 to 100."""


def from_text(text: str) -> HtmlElement:
    """Plain text: a paragraph for each run of lines, its line breaks kept."""
    body = etree.Element("div")
    for block in re.split(r"\n\s*\n", printable(text).replace("\r\n", "\n").strip()):
        paragraph = etree.SubElement(body, "p")
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        paragraph.text = lines[0] if lines else ""
        for line in lines[1:]:
            etree.SubElement(paragraph, "br").tail = line
    return body


def from_json(text: str) -> HtmlElement:
    """JSON: its indented form as a code block; as it stands when it is not valid."""
    try:
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        text = text.strip()
    body = etree.Element("div")
    code = etree.SubElement(etree.SubElement(body, "pre", {"class": "language-json"}), "code")
    code.text = printable(text)
    return body


def markdown_title(text: str) -> str | None:
    """The first level-one heading of a Markdown document."""
    heads = (line[2:].strip().rstrip("#").strip() for line in text.splitlines() if line.startswith("# "))
    return next(heads, None) or None


def from_feed(body: bytes, content_type: str | None) -> tuple[HtmlElement, str | None, str | None]:
    """RSS, Atom or JSON Feed: (list of items, the feed's title, its site's address).

    Raises `ExtractFailed` when the document is broken or has no item.
    """
    if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        title, link, entries = _json_feed(body)
    else:
        title, link, entries = _xml_feed(body, content_type)
    if not entries:
        raise ExtractFailed("The feed has no items.", reason="feed without items")
    listing = etree.Element("ul")
    for entry in entries[:MAX_ENTRIES]:
        item = etree.SubElement(listing, "li")
        head = etree.SubElement(item, "p")
        name = printable(entry["title"] or entry["link"] or "Untitled")
        anchor = (
            etree.SubElement(head, "a", {"href": printable(entry["link"])})
            if entry["link"]
            else etree.SubElement(head, "strong")
        )
        anchor.text = name
        if entry["date"]:
            anchor.tail = f" ({printable(entry['date'])})"
        if collapse(entry["summary"]):
            summary = parse(f"<body><div>{entry['summary']}</div></body>", max_nodes=20_000, max_depth=100).find("body")
            for noise in list(summary.iter("script", "style", "iframe")):
                noise.getparent().remove(noise)
            item.extend(list(summary))
    root = etree.Element("div")
    root.append(listing)
    return root, title or None, link or None


Entry = dict[str, str]


def _xml_feed(body: bytes, content_type: str | None) -> tuple[str, str, list[Entry]]:
    # From a stream, never a string: feedparser would open a string as a file or an address.
    headers = {"content-type": content_type or "application/xml"}
    try:
        parsed = feedparser.parse(io.BytesIO(body), response_headers=headers)
    except (UnicodeError, ValueError) as error:
        raise ExtractFailed("The feed is broken beyond reading.", reason=type(error).__name__) from None
    entries = [
        {
            "title": collapse(entry.get("title")),
            "link": entry.get("link") or "",
            "date": _day(next((entry[name] for name in ("published_parsed", "updated_parsed") if name in entry), None)),
            "summary": _longest(entry),
        }
        for entry in parsed.entries
    ]
    return collapse(parsed.feed.get("title")), parsed.feed.get("link") or "", entries


def _longest(entry: Any) -> str:
    """An entry's content or its summary, whichever says more."""
    values = [str(part.get("value") or "") for part in entry.get("content") or []]
    return max([*values, str(entry.get("summary") or "")], key=len)


def _json_feed(body: bytes) -> tuple[str, str, list[Entry]]:
    data = json.loads(body)
    items = data.get("items")
    entries = [
        {
            "title": _text(item.get("title")),
            "link": _text(item.get("url") or item.get("external_url") or item.get("id")),
            "date": _text(item.get("date_published"))[:10],
            "summary": _text(item.get("content_html") or item.get("summary") or item.get("content_text")),
        }
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict)
    ]
    return _text(data.get("title")), _text(data.get("home_page_url")), entries


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _day(moment: Any) -> str:
    return time.strftime("%Y-%m-%d", moment) if isinstance(moment, time.struct_time) else ""
