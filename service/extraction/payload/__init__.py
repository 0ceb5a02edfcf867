"""Bodies that are not in the mark-up: typed data inside the page, each read by its shape, as elements.

`gather` notes what may hold data before anything is removed, and costs next to nothing; `read` reads it, where the
mark-up has no body; `continued` finds the whole of a body that the mark-up has only the beginning of. A new shape is
a module and a line in `READERS`, with the capture that proves the general path misses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lxml.etree import _Element as HtmlElement

from service.extraction import post, posts
from service.extraction.dom import text_lines
from service.extraction.facts import Facts, string
from service.extraction.metadata import ARTICLES, POSTS
from service.extraction.payload import arc, devalue, discourse, flight, prose, state
from service.extraction.payload.literals import assigned, document
from service.failures import ExtractFailed
from service.page import Kind

MAX_PAYLOAD_CHARS = 4_194_304
"""A page's own size limit bounds its payload; longer data is left unread."""

LEAST_CHARS = 80
"""Characters under which a script or an attribute holds no body."""

MAX_ATTRIBUTES = 500
"""Attributes that hold JSON; a page of islands has some dozens."""

CUT_CHARS = 30
"""Letters at the end of a body that are looked for in the text that may go on after it."""

LONGER = 1.5
"""How many times as long as the body in the mark-up a text is that the body is only the beginning of."""

_JSON_TYPE = re.compile(r"(?:^|[/+])json$", re.I)
_NOT_DATA = ("application/ld+json", "importmap", "speculationrules")
_ELLIPSIS = re.compile(r"(?:…|\.\.\.|\[…\]|\[\.\.\.\])\s*$")
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass
class Data:
    """What of a page may hold data; each kind is parsed once, when it is first asked for."""

    url: str | None
    scripts: list[str] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)
    """The id and text of each script that is no script but JSON."""
    attributes: list[tuple[str, str]] = field(default_factory=list)

    @cached_property
    def values(self) -> list[Any]:
        """The JSON documents, attributes and assignments of the page."""
        found: list[Any] = []
        for name, text in self.documents:
            value = document(text)
            found.append(devalue.revive(value) if "NUXT" in name or devalue.is_devalue(value) else value)
        found += [value for name, text in self.attributes if name != "data-preloaded" and (value := document(text))]
        found += [value for script in self.scripts if "__next_f" not in script for value in assigned(script)]
        return [value for value in found if isinstance(value, (dict, list))]

    @cached_property
    def rows(self) -> list[Any]:
        """The rows of Next.js' stream."""
        return flight.rows(script for script in self.scripts if "__next_f" in script)


@dataclass(frozen=True)
class Found:
    """A body: the name of its shape, its elements, its kind, and what the data says of itself."""

    name: str
    body: HtmlElement
    kind: Kind = "article"
    facts: Facts | None = None


def gather(root: HtmlElement, url: str | None) -> Data:
    """The scripts and attributes that may hold a payload; call before noise is pruned."""
    data = Data(url)
    for element in root.iter():
        if element.tag == "script":
            text = element.text or ""
            kind = (element.get("type") or "").strip().lower()
            if not LEAST_CHARS <= len(text) <= MAX_PAYLOAD_CHARS or kind in _NOT_DATA:
                continue
            if _JSON_TYPE.search(kind):
                data.documents.append((element.get("id") or "", text))
            else:
                data.scripts.append(text)
        elif element.attrib and len(data.attributes) < MAX_ATTRIBUTES:
            for name, value in element.attrib.items():
                if len(value) >= LEAST_CHARS and value.lstrip()[:1] in ("{", "["):
                    data.attributes.append((name, value))
    return data


def read(data: Data, facts: Facts) -> Found | None:
    """The body of the first payload that holds one, in the order of `READERS`."""
    for name, reader in READERS:
        try:
            found = reader(data, facts)
            if found is None:
                continue
            found = Found(name, prose.element(found)) if isinstance(found, str) else found
        except ExtractFailed:  # too many elements
            continue
        if "".join(found.body.itertext()).strip():
            return Found(name, found.body, found.kind, found.facts)
    return None


def continued(data: Data, facts: Facts, body: HtmlElement) -> Found | None:
    """The whole text of which a body is only the beginning, cut off.

    Only where that is certain: the text says what the body ends with, not far from where the body ends, and goes on
    for half as long again. The body ends with an ellipsis, or the text is the page's own `articleBody`.
    """
    end = next((text for text in reversed(list(body.itertext())) if text.strip()), "")
    is_cut = bool(_ELLIPSIS.search(end))
    if not is_cut and _json_ld(data, facts) is None:  # nearly every page
        return None
    said = _NOT_WORD.sub("", "".join(text_lines(body))).casefold()
    tail = said[-CUT_CHARS:]
    if len(tail) < CUT_CHARS:
        return None
    for name, reader in READERS if is_cut else (("json-ld", _json_ld),):
        found = reader(data, facts)
        if not isinstance(found, str):
            continue
        whole = _NOT_WORD.sub("", prose.plain(found)).casefold()
        place = whole.find(tail, max(0, int(0.8 * len(said)) - len(tail)))
        if place >= 0 and len(whole) >= LONGER * (place + len(tail)):
            try:
                return Found(name, prose.element(found))
            except ExtractFailed:
                return None
    return None


def _arc_xp(data: Data, facts: Facts) -> str | None:
    """Arc XP, by its typed elements, wherever in the page's data they are at the top."""
    return next((body for value in data.values if (body := arc.story(value))), None)


def _discourse(data: Data, facts: Facts) -> Found | None:
    values = [document(text) for name, text in data.attributes if name == "data-preloaded"]
    body = next((body for value in (*values, *data.values) if (body := discourse.topic(value))), None)
    return Found("discourse", prose.element(body), "forum") if body else None


def _json_ld(data: Data, facts: Facts) -> str | None:
    """JSON-LD: `articleBody`, or `text` of a post."""
    for node in facts.of_type(*ARTICLES, *POSTS):
        text = node.get("articleBody") or (string(node.get("text")) if node.get("text") else "")
        if isinstance(text, str) and text.strip():
            return text
    return None


def _post(data: Data, facts: Facts) -> Found | None:
    """A post of a social network: the page's JSON-LD, or an object of its data at the top."""
    for value in (*facts.of_type("SocialMediaPosting"), *data.values):
        said = posts.read(value)
        if said is not None:
            kind: Kind = "article" if said.is_article else "social"
            return Found("post", post.to_element(said), kind, post.facts_of(said))
    return None


def _state(data: Data, facts: Facts) -> str | None:
    """Next.js, Nuxt, and any other state that a page's scripts start from, WordPress' posts among it."""
    return state.body(data.values, _titles(facts), data.url)


def _flight(data: Data, facts: Facts) -> str | None:
    return state.body(data.rows, _titles(facts), data.url)


def _titles(facts: Facts) -> list[str]:
    return [facts.title, facts.meta.get("og:title", ""), facts.meta.get("twitter:title", ""), *facts.headings[:3]]


READERS: tuple[tuple[str, Callable[[Data, Facts], str | Found | None]], ...] = (
    ("arc-xp", _arc_xp),
    ("discourse", _discourse),
    ("post", _post),
    ("json-ld", _json_ld),
    ("state", _state),
    ("flight", _flight),
)
"""Payload readers in order of trust; the name becomes `source: payload:NAME`."""
