"""Bodies that are not in the mark-up: typed data inside the page, each read by its shape, as elements.

A new shape is one function in `READERS`, with the capture that proves the general path misses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import parse, printable
from service.extraction.facts import Facts, string
from service.extraction.metadata import ARTICLES, POSTS

MAX_PAYLOAD_CHARS = 4_194_304
"""A page's own size limit bounds its payload; longer data is left unread."""

MAX_VALUES = 50_000
"""Values looked at in one payload."""

_ARC = re.compile(r"Fusion\.globalContent\s*=\s*(?=\{)")
_MARKUP = re.compile(r"<(?:p|div|br|h[1-6]|ul|ol|li|a|strong|em|figure|blockquote)[\s/>]", re.I)
_BODY_KEYS = (
    "articleBody",
    "body",
    "content",
    "contentHtml",
    "content_html",
    "html",
    "bodyHtml",
    "body_html",
    "text",
    "story",
)
_PROSE_CHARS = 200


def scripts(root: HtmlElement) -> list[HtmlElement]:
    """The script elements that may hold a payload; call before noise is pruned."""
    return [script for script in root.iter("script") if script.text and len(script.text) <= MAX_PAYLOAD_CHARS]


def read(found: list[HtmlElement], facts: Facts) -> tuple[str, HtmlElement] | None:
    """(name, body) of the first payload that holds one: Arc XP, then JSON-LD, then Next.js data."""
    for name, reader in READERS:
        body = reader(found, facts)
        if body is not None and "".join(body.itertext()).strip():
            return name, body
    return None


def _arc_xp(found: list[HtmlElement], facts: Facts) -> HtmlElement | None:
    """Arc XP: `Fusion.globalContent = {"content_elements": [{"type": "text", …}, …]}`."""
    for script in found:
        match = _ARC.search(script.text)
        if match is None:
            continue
        try:
            content, _ = json.JSONDecoder(strict=False).raw_decode(script.text, match.end())
        except (ValueError, RecursionError):
            continue
        elements = content.get("content_elements") if isinstance(content, dict) else None
        if isinstance(elements, list):
            return _fragment("".join(_arc_element(item) for item in elements if isinstance(item, dict)))
    return None


def _arc_element(item: dict[str, Any]) -> str:
    kind, content = item.get("type"), item.get("content")
    text = content if isinstance(content, str) else ""
    if kind == "text":
        return f"<p>{text}</p>"
    if kind == "header":
        level = item.get("level")
        level = level if isinstance(level, int) and 1 <= level <= 6 else 2
        return f"<h{level}>{text}</h{level}>"
    if kind == "raw_html":
        return text
    if kind == "interstitial_link" and isinstance(item.get("url"), str):
        return f'<p><a href="{_quoted(item["url"])}">{text}</a></p>'
    if kind == "image" and isinstance(item.get("url"), str):
        caption = item.get("caption") if isinstance(item.get("caption"), str) else ""
        alt = string(item.get("alt_text"))
        image = f'<img src="{_quoted(item["url"])}" alt="{_quoted(alt)}">'
        return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"
    if kind == "list":
        tag = "ol" if item.get("list_type") == "ordered" else "ul"
        items = _objects(item.get("items"))
        return f"<{tag}>{''.join(f'<li>{_arc_inner(entry)}</li>' for entry in items)}</{tag}>"
    if kind == "quote":
        parts = _objects(item.get("content_elements"))
        source = item.get("citation")
        cited = _arc_inner(source) if isinstance(source, dict) else ""
        body = "".join(_arc_element(entry) for entry in parts) or f"<p>{text}</p>"
        return f"<blockquote>{body}{f'<p>{cited}</p>' if cited else ''}</blockquote>"
    if kind == "table":
        head = "".join(f"<th>{_arc_inner(cell)}</th>" for cell in _objects(item.get("header")))
        rows = [row for row in _list(item.get("rows")) if isinstance(row, list)]
        lines = ("".join(f"<td>{_arc_inner(cell)}</td>" for cell in _objects(row)) for row in rows)
        return f"<table><thead><tr>{head}</tr></thead>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
    return ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _arc_inner(entry: dict[str, Any]) -> str:
    content = entry.get("content")
    return content if isinstance(content, str) else _arc_element(entry) if entry.get("type") == "list" else ""


def _json_ld(found: list[HtmlElement], facts: Facts) -> HtmlElement | None:
    """JSON-LD: `articleBody`, or `text` of a post."""
    for node in facts.of_type(*ARTICLES, *POSTS):
        text = node.get("articleBody") or (string(node.get("text")) if node.get("text") else "")
        if isinstance(text, str) and text.strip():
            return _prose(text)
    return None


def _next_data(found: list[HtmlElement], facts: Facts) -> HtmlElement | None:
    """Next.js: the longest prose under a body's usual key in `<script id="__NEXT_DATA__">`."""
    for script in found:
        if script.get("id") != "__NEXT_DATA__":
            continue
        try:
            data = json.loads(script.text, strict=False)
        except (ValueError, RecursionError):
            continue
        best = max(_bodies(data), key=len, default="")
        if len(best) >= _PROSE_CHARS:
            return _prose(best)
    return None


def _bodies(data: Any) -> Iterator[str]:
    """Strings, and lists of strings as paragraphs, under a body's usual keys."""
    queue: list[tuple[str, Any]] = [("", data)]
    for _ in range(MAX_VALUES):
        if not queue:
            return
        key, value = queue.pop()
        if isinstance(value, dict):
            queue.extend(value.items())
        elif isinstance(value, list):
            if key in (*_BODY_KEYS, "paragraphs", "blocks") and value:
                texts = [
                    item if isinstance(item, str) else string(item, "text", "content", "html", "value")
                    for item in value
                ]
                yield "\n\n".join(text for text in texts if text)
            queue.extend(("", item) for item in value)
        elif isinstance(value, str) and key in _BODY_KEYS:
            yield value


def _prose(text: str) -> HtmlElement:
    if _MARKUP.search(text):
        return _fragment(text)
    body = etree.Element("div")
    for line in printable(text).splitlines():
        if line.strip():
            etree.SubElement(body, "p").text = line.strip()
    return body


def _fragment(html: str) -> HtmlElement:
    root = parse(f"<body>{html}</body>", max_nodes=MAX_VALUES, max_depth=500)
    return root.find("body")


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;")


READERS: tuple[tuple[str, Callable[[list[HtmlElement], Facts], HtmlElement | None]], ...] = (
    ("arc-xp", _arc_xp),
    ("json-ld", _json_ld),
    ("next-data", _next_data),
)
"""Payload readers in order of trust; the name becomes `source: payload:NAME`."""
