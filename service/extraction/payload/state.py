"""The state of an app, which holds its article somewhere: found by what is prose, and by whose title is the page's."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote, urlsplit

from service.extraction.payload.prose import measure, plain
from service.extraction.payload.rich import is_rich, to_html

MAX_VALUES = 300_000
"""Values looked at in the state of one page; 1 MB of JSON has some 30,000."""

MAX_CANDIDATES = 2_000
"""Texts that are measured."""

LEAST_PROSE, LEAST_OF_OWN = 200, 80
"""Characters of prose from which a text is a body: any, and one whose title or address is the page's own."""

SIBLINGS = 3
"""Texts of one place in as many siblings are a list's, none of which is the page's, unless one is by its title."""

_TITLES = ("title", "headline", "name", "heading", "subject", "seoTitle", "metaTitle")
_ADDRESSES = ("slug", "url", "path", "permalink", "canonical", "canonicalUrl", "href", "link", "uri", "id", "_id")
_ASIDE = re.compile(
    r"footer|cookie|consent|legal|terms|privacy|disclaimer|i18n|intl|locale|messages|translation|config|setting|"
    r"biograph|\bbio\b|comment|related|recommend|newsletter|dictionary",
    re.I,
)
_NOT_WORD = re.compile(r"[\W_]+")


class _Place:
    """Where a value stands: the object it is in, and the way to it."""

    __slots__ = ("container", "key", "parent")

    def __init__(self, parent: _Place | None, key: str, container: Any) -> None:
        self.parent, self.key, self.container = parent, key, container


def body(values: Iterable[Any], titles: Iterable[str], url: str | None) -> str | None:
    """The text of the article in the values of a page's state, as HTML or plain text; None where none is one.

    `titles` are what the page calls itself, `url` its address: of an object that has either, the text is the page's.
    """
    keys = {key for title in titles if len(key := _key(title)) >= 4}
    ends = _ends(url)
    found: list[tuple[bool, float, str, str]] = []
    seen: set[int] = set()
    queue: deque[tuple[_Place | None, str, Any]] = deque((None, "", value) for value in values)
    for _ in range(MAX_VALUES):
        if not queue or len(found) >= MAX_CANDIDATES:
            break
        parent, key, value = queue.popleft()
        if isinstance(value, str):
            text = value if len(value) >= LEAST_OF_OWN else ""
        elif isinstance(value, (dict, list)):
            if id(value) in seen:  # shared or cyclic
                continue
            seen.add(id(value))
            text = to_html(value) if is_rich(value) else ""
        else:
            continue
        prose = measure(text) if text else 0
        if prose >= LEAST_OF_OWN:
            own, way, weight = _standing(parent, key, keys, ends)
            found.append((own, prose * weight, way, text))
            if not isinstance(value, str):
                continue
        if isinstance(value, dict):
            place = _Place(parent, key, value)
            queue.extend((place, name, item) for name, item in value.items() if isinstance(item, (str, dict, list)))
        elif isinstance(value, list):
            place = _Place(parent, key, value)
            queue.extend((place, "", item) for item in value if isinstance(item, (str, dict, list)))
    return _best(found)


def _best(found: list[tuple[bool, float, str, str]]) -> str | None:
    own = [item for item in found if item[0]]
    if own:
        return max(own, key=lambda item: item[1])[3]
    alike = Counter(way for *_, way, _ in found)
    same = Counter(text[:1_000] for *_, text in found)  # boilerplate stands in many objects
    lone = [i for i in found if i[1] >= LEAST_PROSE and alike[i[2]] < SIBLINGS and same[i[3][:1_000]] < SIBLINGS]
    return max(lone, key=lambda item: item[1])[3] if lone else None


def _standing(place: _Place | None, key: str, titles: set[str], ends: set[str]) -> tuple[bool, str, float]:
    """Whether the object around a text is the page's own, the way to it, and the weight that the names on it leave."""
    own, names, distance = False, [key], 0
    weight = 1.0
    while place is not None and len(names) < 30:
        container = place.container
        if isinstance(container, dict) and distance < 3:
            distance += 1
            own = own or _is_own(container, titles, ends)
        names.append(place.key)
        place = place.parent
    if any(_ASIDE.search(name) for name in names):
        own, weight = False, 0.25
    return own, "/".join(reversed(names)), weight


def _is_own(container: dict[str, Any], titles: set[str], ends: set[str]) -> bool:
    for name in _TITLES:
        value = container.get(name)
        value = value.get("rendered") or value.get("basic") if isinstance(value, dict) else value
        key = _key(plain(value[:500])) if isinstance(value, str) else ""
        if key in titles or (len(key) >= 8 and any(key in title or title in key for title in titles)):
            return True
    for name in _ADDRESSES:
        value = container.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and not ends.isdisjoint(_ends(str(value))):
            return True
    return False


def _ends(address: str | None) -> set[str]:
    """The last part of an address's path, and its number: what a slug or an identity may be."""
    try:
        path = urlsplit((address or "")[:2000]).path
    except ValueError:  # an address that a caller or a page made up
        return set()
    last = unquote(path.rstrip("/").rpartition("/")[2]).lower().removesuffix(".html")
    numbers = re.findall(r"\d{4,20}", last)
    return {part for part in (last, *numbers) if len(part) >= 4}


def _key(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()
