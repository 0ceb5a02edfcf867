"""The page's own title, and the name of its site."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from service.extraction.facts import Facts, string
from service.extraction.metadata.schema import ARTICLES, POSTS

MAX_TITLE_CHARS = 1_000
"""Where a title is cut; the longest on the boards are a tenth of that."""

MAX_HEADINGS = 20
"""Headings of the first level that are compared with the declared title."""

ALIKE = 0.5
"""Share of a heading's letter pairs in the declared titles under which it says something else."""

LABEL_WORDS = 2
"""Words up to which a heading of a page that is no article loses to a longer declared title without separators: on
half of wcxb that title is the known one on 14 such pages, the heading on 3."""

MIN_PART = 8
"""Letters that a title has at least, once a part is cut from it."""

# A number of goods or results behind the name of their list; a year is none.
_COUNT = re.compile(r"\s*\((?!(?:19|20)\d\d\))\d[\d,.]{0,9}\+?(?:\s[^\W\d]{1,12})?\)$")
_SEPARATOR = re.compile(r"\s+(?:[|–—·•»«›<>/]|::|-|:)\s+|\s*[|｜]\s*|\s*:\s+(?=[^:]*$)")
_NOT_LETTERS = re.compile(r"[\W_]+")


def site_of(facts: Facts, url: str | None) -> str | None:
    """The site's name: `og:site_name`, JSON-LD publisher or WebSite, else the host without `www.`."""
    name = facts.meta.get("og:site_name", "")
    if not name:
        name = next(
            (n for node in facts.of_type(*ARTICLES, *POSTS) if (n := string(node.get("publisher"), "name"))), ""
        )
    if not name:
        name = next((n for node in facts.of_type("WebSite") if (n := string(node.get("name")))), "")
    return name or facts.meta.get("application-name") or _host(url)


def title_of(
    facts: Facts,
    site: str | None,
    url: str | None,
    headings: Sequence[str] | None = None,
    lower: Sequence[str] = (),
) -> str | None:
    """The page's own title, the site's name cut off.

    It is the visible `<h1>`; of several the one most like what the page declares (headline, `og:title`, `<title>`).
    The declared title wins where there is no such heading, where several headings are all unlike it, and where a page
    that is no article has a slogan for a heading. A `lower` heading wins over one that is the end of the declared
    title, if it is its beginning ("Chapter - Book"). `headings` are the visible ones; without them the
    declared title counts alone, and a heading of the source only where there is none.
    """
    headline = next((h for node in facts.of_type(*ARTICLES, *POSTS) if (h := string(node.get("headline")))), "")
    named = [
        _plain(t) for t in (headline, facts.meta.get("og:title", ""), facts.title, facts.meta.get("twitter:title", ""))
    ]
    brands = {key(name) for name in (site or "", facts.meta.get("og:site_name", ""), *_brands(url)) if name}
    brands.update(_added(_plain(facts.title), [text for text in named[:2] if key(text) not in brands]))
    declared = [text for name in named if (text := _cut(name, brands)) and key(text) not in brands]
    given = [_plain(heading) for heading in (facts.headings if headings is None else headings)[:MAX_HEADINGS]]
    if headings is None and declared:
        return _shortest(declared)
    owned = [text for text in given if len(text) > 1 and key(text) not in {"", *brands} and "{{" not in text]
    if declared and (first := _first_part(declared, owned, [_plain(text) for text in lower[:MAX_HEADINGS]])):
        return first
    if not declared or not owned:
        found = _shortest(declared) or next(iter(owned), "") or _plain(facts.title) or next(iter(given), "")
        return found or None
    pairs = [_pairs(text) for text in declared]
    all_pairs = set[str]().union(*pairs)
    own = [_pairs(heading) for heading in owned]
    likeness = [max(2 * len(o & p) / (len(o) + len(p) or 1) for p in pairs) for o in own]
    best = max(range(len(owned)), key=lambda number: (likeness[number], -number))
    agreed = len({key(text) for text in declared}) == 1 and len(declared) > 1
    is_article = facts.meta.get("og:type", "").lower() == "article" or any(facts.of_type(*ARTICLES, *POSTS))
    if not is_article and _is_label(owned[best]) and len(own[best]) < max(map(len, pairs)) and likeness[best] < 1:
        plain = next((text for text in declared if not _SEPARATOR.search(text)), None)
        if plain is not None and len(key(plain)) > len(key(owned[best])):
            return plain
    is_other = len(own[best] & all_pairs) < ALIKE * len(own[best])
    if is_other and (len({key(text) for text in owned}) > 1 or (agreed and not is_article)):
        return _shortest(declared)
    return _COUNT.sub("", _cut(owned[best], brands)) or owned[best]


def _is_label(heading: str) -> bool:
    """Whether a heading is one or two words of a script with spaces: on a page of goods a mere label."""
    return len(heading.split()) <= LABEL_WORDS and not any(char > "\u2e80" for char in heading)


def _added(title: str, others: Sequence[str]) -> Iterator[str]:
    """What `<title>` has beside another declared title, behind or before a separator: the site's name for itself."""
    for other in others:
        for cut in _SEPARATOR.finditer(title):
            before, after = key(title[: cut.start()]), key(title[cut.end() :])
            if key(other) == before and len(before) >= MIN_PART:
                yield after
            elif key(other) == after and len(after) >= MIN_PART:
                yield before


def _first_part(declared: Sequence[str], owned: Sequence[str], lower: Sequence[str]) -> str | None:
    """A visible heading that is a declared title's beginning, where the first-level ones are only its other parts."""
    for text in declared:
        cuts = list(_SEPARATOR.finditer(text))
        parts = [key(text[: cut.start()]) for cut in cuts]
        rests = {key(text[cut.end() :]) for cut in cuts}
        if not owned:
            parts += rests
        elif not {key(heading) for heading in owned} <= rests:
            continue
        for heading in lower:
            if len(key(heading)) >= MIN_PART and key(heading) in parts:
                return heading
    return None


def _shortest(declared: Sequence[str]) -> str:
    """The first declared title, or another that is all of it but a part behind a separator."""
    for text in declared:
        outer = key(declared[0])
        inner = key(text)
        if (
            inner
            and inner != outer
            and outer.startswith(inner)
            and len(inner) >= MIN_PART
            and _SEPARATOR.search(declared[0])
        ):
            return text
    return declared[0] if declared else ""


def _plain(text: str) -> str:
    """A title without entities that were escaped twice, and without the sign of a heading's own link."""
    return " ".join(html.unescape(html.unescape(text[:MAX_TITLE_CHARS])).split()).rstrip("¶ ").removesuffix(" #")


def _pairs(text: str) -> set[str]:
    """Pairs of letters that follow each other: a measure of likeness that needs no words."""
    letters = key(text)
    return {letters[n : n + 2] for n in range(len(letters) - 1)}


def key(text: str) -> str:
    """Letters and digits of a text, case folded: what makes two names the same."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _host(url: str | None) -> str | None:
    try:
        host = (urlsplit(url).hostname or "") if url else ""
    except ValueError:  # an address that a caller made up
        return None
    return host.removeprefix("www.") or None


def _brands(url: str | None) -> list[str]:
    host = _host(url) or ""
    labels = host.split(".")
    return [host, *labels[-3:-1], *labels[:1]] if host else []


def _cut(title: str, brands: set[str]) -> str:
    """A title without the site's name at its end or start."""
    title = " ".join(title.split())[:MAX_TITLE_CHARS]
    for _ in range(3):
        separators = list(_SEPARATOR.finditer(title))
        if not separators:
            break
        last, first = separators[-1], separators[0]
        if _is_brand(title[last.end() :], brands):
            title = title[: last.start()].strip()
        elif _is_brand(title[: first.start()], brands):
            title = title[first.end() :].strip()
        else:
            break
    return title


def _is_brand(part: str, brands: set[str]) -> bool:
    """Whether a part of a title names the site: a brand, or one lengthened or shortened ("Small Boats Board")."""
    name = key(part)
    return name in brands or any(
        len(brand) >= 5 and len(name) >= 5 and (name.startswith(brand) or brand.startswith(name)) for brand in brands
    )
