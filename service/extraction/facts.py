"""What a page says of itself, read once before anything is removed: `<meta>`, JSON-LD, title, headings."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction import microdata
from service.extraction.dom import collapse, printable, text_of
from service.extraction.repair import repaired

MAX_JSON_CHARS = 2_000_000
"""JSON-LD longer than this is left unread."""

MAX_NODES = 2_000
"""JSON-LD objects looked at in one page."""

MAX_REPAIRED_CHARS = 60_000
"""Characters of malformed JSON-LD that are repaired in a page. At this length the worst input found (unescaped quotes
throughout) takes 0.25 s, a usual one 30 ms; malformed JSON-LD on wcxb is under 20,000 characters."""

MAX_VALUES = 50
"""Values kept of one repeated `<meta>`: a page has that many authors or tags at most."""

_LICENCE = etree.XPath("string((//*[(self::a or self::link) and contains(@rel, 'license')]/@href)[1])")
_CONTROL = re.compile(r"[\x00-\x1f]")
_COMMENT = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/)\s*$")


@dataclass(slots=True)
class Facts:
    """Meta values by lower-case name or property, JSON-LD objects, `<title>`, headings, language, canonical link.

    The models were fitted to the first four as they are. What metadata needs beyond them stands beside them: all
    `values` of a repeated `<meta>`, objects of malformed JSON-LD (`mended`), those with a name by their `@id`
    (`named`), the `items` of microdata.
    """

    meta: dict[str, str] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    title: str = ""
    headings: list[str] = field(default_factory=list)
    language: str | None = None
    canonical: str | None = None
    values: dict[str, list[str]] = field(default_factory=dict)
    mended: list[dict[str, Any]] = field(default_factory=list)
    named: dict[str, dict[str, Any]] = field(default_factory=dict)
    items: list[dict[str, Any]] = field(default_factory=list)
    direction: str | None = None
    licence: str | None = None

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
    repairable = MAX_REPAIRED_CHARS
    body = root.find("body")
    facts.direction = root.get("dir") or (body.get("dir") if body is not None else None)
    for element in root.iter("meta", "title", "h1", "link", "script"):
        tag = element.tag
        if tag == "meta":
            name = element.get("property") or element.get("name") or element.get("itemprop")
            content = collapse(element.get("content"))
            if name and content:
                name = name.strip().lower()
                facts.meta.setdefault(name, content)
                values = facts.values.setdefault(name, [])
                if len(values) < MAX_VALUES:
                    values.append(content)
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
            repairable -= _json_ld(facts, element.text or "", repairable)
    facts.items = microdata.read(root)
    facts.licence = _LICENCE(root) or None
    return facts


def _json_ld(facts: Facts, text: str, repairable: int) -> int:
    """Add what one script holds; where it is malformed, what a repair makes of it stands apart.

    How many of the `repairable` characters were given to the repair.
    """
    if len(text) > MAX_JSON_CHARS:
        return 0
    text = _COMMENT.sub("", text).strip().rstrip(";")
    data, found, spent = _loaded(text), facts.nodes, 0
    if data is None and len(text) <= repairable:
        data, found, spent = repaired(text), facts.mended, len(text)
    found.extend(_objects(data, MAX_NODES - len(found)))
    for node in _dicts(data, MAX_NODES - len(facts.named)):
        if isinstance(name := node.get("@id"), str) and node.get("name"):
            facts.named.setdefault(name, node)
    return spent


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        try:
            return json.loads(_CONTROL.sub(" ", re.sub(r",\s*([}\]])", r"\1", text)), strict=False)
        except (ValueError, RecursionError):
            return None


def _objects(data: Any, most: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    queue: deque[Any] = deque([data])
    while queue and len(found) < most:
        value = queue.popleft()
        if isinstance(value, list):
            queue.extend(item for item in value[:most] if isinstance(item, dict | list))
        elif isinstance(value, dict):
            if "@type" in value:
                found.append(value)
            queue.extend(
                value[key] for key in ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement") if key in value
            )
    return found


def _dicts(data: Any, most: int) -> Iterator[dict[str, Any]]:
    """The objects inside a JSON value, `most` at most."""
    stack = [data]
    while stack and most > 0:
        value = stack.pop()
        if isinstance(value, dict):
            most -= 1
            yield value
            stack.extend(v for v in value.values() if isinstance(v, dict | list))
        elif isinstance(value, list):
            stack.extend(v for v in value[:MAX_NODES] if isinstance(v, dict | list))
