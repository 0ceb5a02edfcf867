"""Microdata as objects like those of JSON-LD: who wrote a page and when, where it says so by `itemprop`.

One pass over the properties that are asked for. The library for it (extruct) was measured and left out: importing it
takes 1.2 s and 39 MB in every worker for an RDF stack and an HTTP client, and 200 nested properties in 4 KB cost it
0.2 s, growing with the square.
"""

from __future__ import annotations

from typing import Any

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import collapse, text_within

WANTED = frozenset(
    (
        "author creator name headline datePublished dateCreated dateModified uploadDate publisher articleSection "
        "keywords license inLanguage"
    ).split()
)
"""Properties that are read; all others are passed over."""

MAX_PROPERTIES = 400
"""Properties read in one page: a list of comments has thousands, an article two dozen."""

MAX_CHARS = 300
"""Longest value that is kept; a name or a date is shorter."""

_PROPERTIES = etree.XPath("//*[@itemprop]")


def read(root: HtmlElement) -> list[dict[str, Any]]:
    """The items of a page that have a wanted property, in document order, nested ones inside their owner."""
    items: dict[HtmlElement | None, dict[str, Any]] = {}
    nested: set[HtmlElement] = set()
    for element in _PROPERTIES(root)[:MAX_PROPERTIES]:
        names = WANTED.intersection((element.get("itemprop") or "").split())
        if not names:
            continue
        owner = next((e for e in element.iterancestors() if e.get("itemscope") is not None), None)
        item = items.setdefault(owner, _item(owner))
        value: Any
        if element.get("itemscope") is not None:
            value = items.setdefault(element, _item(element))
            if not value.get("name") and element.tag != "meta":
                value.setdefault("_text", _value(element))
            nested.add(element)
        else:
            value = _value(element)
        for name in names if value else ():
            item.setdefault(name, []).append(value)
    return [item for owner, item in items.items() if owner is not None and owner not in nested]


def _item(owner: HtmlElement | None) -> dict[str, Any]:
    kind = (owner.get("itemtype") or "") if owner is not None else ""
    return {"@type": [part.rsplit("/", 1)[-1] for part in kind.split()[:4]]}


def _value(element: HtmlElement) -> str:
    """What a property says, as the HTML standard reads it (5.2.4), but the text of a link and not its address."""
    for name in ("content", "datetime"):
        if element.get(name):
            return collapse(element.get(name))[:MAX_CHARS]
    text = text_within(element, 4 * MAX_CHARS)
    if text is None:
        return ""  # a body, no name
    return collapse(text)[:MAX_CHARS] or (element.get("href") or "")[:MAX_CHARS]
