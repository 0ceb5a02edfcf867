"""Who wrote a page and when, where only its visible text says so: bylines and date lines near the title.

Looked for among the blocks around the title: marked as such (`rel=author`, `itemprop`, words of class names, a link
into a folder of authors, `<time>`), or introduced by "By", "von", "作者" and the like. Dates are read by dateparser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import collapse, text_of, words
from service.extraction.facts import Facts
from service.extraction.metadata import dates, people
from service.extraction.metadata.title import key
from service.extraction.segment import Blocks

BEFORE, BEHIND = 8, 25
"""Blocks before and behind the title in which a byline stands: kickers and crumbs come before, sharing links between."""

LINE_CHARS = 160
"""Longest block that is a byline: names, roles, a date, a reading time. What is longer is prose."""

LEVELS = 4
"""Elements around a text whose names say what it is."""

MAX_PARSED = 12
"""Texts handed to the date parser for one page: 2 ms each."""

_AUTHOR_WORDS = frozenset(
    "author authors byline bylines writer reporter creator username postauthor authorname contributor contributors "
    "journalist poster autor auteur fn authored nickname".split()
)
_NOT_AUTHOR_WORDS = frozenset("bio biography avatar image photo comment comments related recommended share social count date time".split())
_DATE_WORDS = frozenset(
    "date time published publish pubdate datetime timestamp posted dateline datepublished created updated modified datum fecha "
    "postdate publication day".split()
)
_AUTHOR_PATH = re.compile(
    r"/(?:authors?|by|people|person|profiles?|users?|members?|contributors?|writers?|staff|team|autor(?:en|es)?|auteurs?"
    r"|u|bio|byline|experts?|journalist|blogger)(?:/|\.php|\?)|/@|[?&](?:author|u|user|uid)=",
    re.I,
)
_CHANGED = re.compile(r"updated|modified|edited|aktualisiert|mis à jour|actualizado|aggiornato|更新|수정|обновлено|revised", re.I)
_DATE = re.compile(
    r"(?<![\d/.\-])(?:\d{4}\s?[-/.年년]\s?\d{1,2}\s?[-/.月월]\s?\d{1,2}[日일]?(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}\s?[-/.]\s?\d{1,2}\s?[-/.]\s?(?:19|20)\d\d"
    r"|(?:\d{1,2}(?:st|nd|rd|th|er|º|°|\.)?[\s,\-]{1,2}(?:(?:de|of|di)\s)?)?[^\W\d_]{3,14}\.?[\s,\-]{1,2}(?:(?:de|del)\s)?"
    r"(?:\d{1,2}(?:st|nd|rd|th)?[\s,\-]{1,3}(?:(?:de|del|at)\s)?)?(?:19|20)\d\d)(?!\d)",
    re.I,
)
_DAY_FIRST_NAME = re.compile(r"^[^\W\d_]{3,14}\.?[\s,\-]+(?:19|20)\d\d$")  # a month alone is no day
_URL_DATE = re.compile(r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_-]|$)|/((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?=\D)")


@dataclass(frozen=True, slots=True)
class Signature:
    """What the visible text says: authors, and when the page was published and changed."""

    authors: tuple[str, ...] = ()
    published: str | None = None
    modified: str | None = None
    headings: tuple[str, ...] = ()


def sign(blocks: Blocks, facts: Facts, title: str | None, url: str | None, *, authors: bool, published: bool) -> Signature:
    """Read the signature of a page; `authors` and `published` say what structured data has left open.

    Call before the body is taken out of the tree.
    """
    if not len(blocks) or not (authors or published):
        return Signature()
    place = _title_block(blocks, title)
    near = range(max(0, place - BEFORE), min(len(blocks), place + BEHIND + 1))
    order = [*range(place, near.stop), *reversed(range(near.start, place))]
    found = _authors(blocks, order, place) if authors else ()
    when, changed = _dates(blocks, order, facts.language) if published else (None, None)
    if published and when is None:
        when = _of_address(url)
    return Signature(found, when or changed, changed)


def headings(blocks: Blocks) -> list[str]:
    """The visible headings of the first level, in order."""
    found: list[str] = []
    for number, element in enumerate(blocks.elements):
        if blocks.tags[number] == "h1" and (text := collapse(text_of(element))):
            found.append(text)
    return found


def _title_block(blocks: Blocks, title: str | None) -> int:
    """The number of the title's block: a heading that says it, else any block that does, else the first heading."""
    wanted = key(title or "")
    first = said = None
    for number, text in enumerate(blocks.texts):
        tag = blocks.tags[blocks.home[number]]
        if tag == "h1" and first is None:
            first = number
        if wanted and len(text) < 3 * len(title or "") and key(text) == wanted:
            if tag in ("h1", "h2", "h3"):
                return number
            said = number if said is None else said
    return said if said is not None else first if first is not None else 0


def _around(blocks: Blocks, number: int) -> Iterator[HtmlElement]:
    """The elements right around the pieces of a block, innermost first."""
    seen: set[HtmlElement] = set()
    for element, is_tail in blocks.pieces[number][:8]:
        inner = element.getparent() if is_tail else element
        for _ in range(LEVELS):
            if inner is None or inner in seen:
                break
            seen.add(inner)
            yield inner
            inner = inner.getparent()


def _names(element: HtmlElement) -> set[str]:
    return {
        word
        for name in ("class", "id", "itemprop", "rel", "data-testid", "data-component", "data-qa")
        if (value := element.get(name)) and len(value) < 300
        for word in words(value)
    }


def _authors(blocks: Blocks, order: list[int], place: int) -> tuple[str, ...]:
    said = linked = marked = ()
    for number in order:
        text = blocks.texts[number]
        if len(text) > LINE_CHARS or number == place:
            continue
        if people.PREFIX.match(text):
            rest = people.cut(text)
            if rest and (names := people.unique(people.split(rest))):
                said = said or _plausible(names)
            elif not rest and number + 1 < len(blocks):  # "By" alone: the name is the next block
                names = people.unique(people.split(people.cut(blocks.texts[number + 1])))
                said = said or _plausible(names)
        for element in _around(blocks, number):
            if element.tag in ("h1", "body", "main", "article", "nav"):
                continue
            names_of = _names(element)
            is_author = not names_of.isdisjoint(_AUTHOR_WORDS) and names_of.isdisjoint(_NOT_AUTHOR_WORDS)
            if not marked and is_author:
                whole = collapse(text_of(element))
                whole = whole if len(whole) <= LINE_CHARS else text
                names = people.unique(people.split(people.cut(whole)))
                marked = _plausible(names)
            if not linked and element.tag == "a" and _AUTHOR_PATH.search(element.get("href") or ""):
                names = people.unique(people.split(people.cut(collapse(text_of(element))[:LINE_CHARS])))
                linked = _plausible(names)
    return said or marked or linked


def _plausible(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if len(name) <= 60 and len(name.split()) <= 6)


def _dates(blocks: Blocks, order: list[int], language: str | None) -> tuple[str | None, str | None]:
    """(published, changed) of the date lines near the title, nearest first."""
    parsed = 0
    changed: str | None = None
    weak: str | None = None
    for number in order:
        text = blocks.texts[number]
        stamp = next((e.get("datetime") for e in _around(blocks, number) if e.tag == "time" and e.get("datetime")), None)
        if stamp and len(text) <= LINE_CHARS and (when := dates.moment(stamp, language)):
            if _CHANGED.search(text):
                changed = changed or when
                continue
            return when, changed
        if len(text) > LINE_CHARS:
            continue
        for match in _DATE.finditer(text):
            if parsed >= MAX_PARSED:
                return weak, changed
            parsed += 1
            if _DAY_FIRST_NAME.match(match.group()):
                continue
            when = dates.moment(match.group(), language)
            if when is None:
                continue
            if _CHANGED.search(text[max(0, match.start() - 30) : match.start()]):
                changed = changed or when
            elif len(text) - len(match.group()) <= 60 or any(
                not _names(e).isdisjoint(_DATE_WORDS) for e in _around(blocks, number)
            ):
                return when, changed
            else:
                weak = weak or when
    return weak, changed


def _of_address(url: str | None) -> str | None:
    """The day that a page's address names."""
    try:
        match = _URL_DATE.search(urlsplit(url or "").path)
    except ValueError:
        return None
    if match is None:
        return None
    year, month, day = (part for part in match.groups() if part)
    return dates.moment(f"{year}-{int(month):02d}-{int(day):02d}")
