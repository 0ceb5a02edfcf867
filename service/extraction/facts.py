"""What a page says of itself, read once before anything is removed: `<meta>`, JSON-LD, title, headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import collapse, printable, text_of

MAX_JSON_CHARS = 2_000_000
"""JSON-LD longer than this is left unread."""

MAX_NODES = 2_000
"""JSON-LD objects looked at in one page."""

_CONTROL = re.compile(r"[\x00-\x1f]")
_COMMENT = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/)\s*$")


@dataclass(slots=True)
class Facts:
    """Meta values by lower-case name or property, JSON-LD objects, `<title>`, headings, language, canonical link."""

    meta: dict[str, str] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    title: str = ""
    headings: list[str] = field(default_factory=list)
    language: str | None = None
    canonical: str | None = None

    def of_type(self, *names: str) -> Iterator[dict[str, Any]]:
        """JSON-LD objects whose `@type` is one of `names`, in document order."""
        for node in self.nodes:
            if not types(node).isdisjoint(names):
                yield node


def types(node: dict[str, Any]) -> set[str]:
    """The schema.org types of a JSON-LD object, without their namespace."""
    value = node.get("@type")
    values = value if isinstance(value, list) else [value]
    return {item.rsplit("/", 1)[-1] for item in values if isinstance(item, str)}


def string(value: Any, *keys: str) -> str:
    """A JSON-LD value as text: itself, the first of a list, or one of an object's `keys`."""
    for _ in range(4):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict):
            value = next((value[key] for key in keys if value.get(key)), None)
        else:
            break
    return collapse(printable(value)) if isinstance(value, str) else ""


def read(root: HtmlElement) -> Facts:
    """Collect the facts of a parsed page; malformed JSON-LD is skipped."""
    facts = Facts(language=root.get("lang") or root.get("xml:lang"))
    for element in root.iter("meta", "title", "h1", "link", "script"):
        tag = element.tag
        if tag == "meta":
            name = element.get("property") or element.get("name") or element.get("itemprop")
            content = collapse(element.get("content"))
            if name and content:
                facts.meta.setdefault(name.strip().lower(), content)
        elif tag == "title":
            facts.title = facts.title or text_of(element)
        elif tag == "h1":
            heading = text_of(element)
            if heading:
                facts.headings.append(heading)
        elif tag == "link":
            if "canonical" in (element.get("rel") or "").lower().split():
                facts.canonical = facts.canonical or element.get("href")
        elif (element.get("type") or "").strip().lower() == "application/ld+json":
            facts.nodes.extend(_objects(element.text or "", MAX_NODES - len(facts.nodes)))
    return facts


def _objects(text: str, most: int) -> list[dict[str, Any]]:
    if len(text) > MAX_JSON_CHARS:
        return []
    text = _COMMENT.sub("", text).strip().rstrip(";")
    try:
        data = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        try:
            data = json.loads(_CONTROL.sub(" ", re.sub(r",\s*([}\]])", r"\1", text)), strict=False)
        except (ValueError, RecursionError):
            return []
    found: list[dict[str, Any]] = []
    queue: list[Any] = [data]
    while queue and len(found) < most:
        value = queue.pop(0)
        if isinstance(value, list):
            queue.extend(value[:most])
        elif isinstance(value, dict):
            if "@type" in value:
                found.append(value)
            queue.extend(
                value[key] for key in ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement") if key in value
            )
    return found
