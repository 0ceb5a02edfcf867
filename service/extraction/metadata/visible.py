"""Who wrote a page and when, where only its visible text says so: bylines and date lines near the title.

Looked for among the blocks around the title: marked as such (`rel=author`, `itemprop`, words of class names, a link
into a folder of authors, `<time>`), or introduced by "By", "von", "作者" and the like. Dates are read by dateparser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import collapse, text_of, words
from service.extraction.facts import Facts
from service.extraction.metadata import dates, people
from service.extraction.metadata.title import key
from service.extraction.segment import Blocks

BEFORE, BEHIND = 8, 25
"""Blocks before and behind the title in which a byline stands: kickers come before, sharing links between."""

LINE_CHARS = 160
"""Longest block that is a byline: names, roles, a date, a reading time. What is longer is prose."""

LEVELS = 4
"""Elements around a text whose names say what it is."""

MAX_PIECES = 40
"""Texts of one element that are looked at for names."""

BESIDE = 4
"""Blocks under the title in which a name that nothing marks may stand beside a date."""

SIGNED_CHARS = 80
"""Longest line "Written by …" that signs a text at its end."""

MAX_DATED = 200
"""Lines with a date that are looked at: an archive has thousands, none of which is the page's own."""

ALONE_CHARS = 60
"""Characters that a line has beside its date, at most, to be a date line with nothing to mark it."""

MAX_HEADINGS = 30
"""Headings of a level that may be the title."""

MAX_PARSED = 12
"""Texts handed to the date parser for one page: 2 ms each."""

_AUTHOR_WORDS = frozenset(
    "author authors byline bylines writer reporter creator username postauthor authorname contributor contributors "
    "journalist poster autor auteur fn authored nickname".split()
)
_NOT_AUTHOR_WORDS = frozenset(
    "bio biography avatar image photo comment comments related recommended share social count date time".split()
)
_DATE_WORDS = frozenset(
    "date time published publish pubdate datetime timestamp posted dateline datepublished created updated modified "
    "datum fecha postdate publication day".split()
)
_CAPITAL = r"[^\W\d_a-zа-яё][\w’'.\-]*"
_FULL_NAME = re.compile(rf"{_CAPITAL}(?:\s(?:(?:de|da|van|von|der|den|bin|al|la|le|du|di|del|{_CAPITAL}))){{1,3}}")
_NO_BYLINE = frozenset(("h1", "body", "main", "article", "nav", "html"))
_AUTHOR_PATH = re.compile(
    r"/(?:authors?|by|people|person|profiles?|users?|members?|contributors?|writers?|staff|team|autor(?:en|es)?|auteurs?"
    r"|u|bio|byline|experts?|journalist|blogger)(?:/|\.php|\?)|/@|[?&](?:author|u|user|uid)=",
    re.I,
)
_CHANGED = re.compile(
    r"updated|modified|edited|aktualisiert|mis à jour|actualizado|aggiornato|更新|수정|обновлено|revised", re.I
)
_DIGITS = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(
    r"(?<![\d/.\-])(?:\d{4}\s?[-/.年년]\s?\d{1,2}\s?[-/.月월]\s?\d{1,2}[日일]?"
    r"(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}\s?[-/.]\s?\d{1,2}\s?[-/.]\s?(?:19|20)\d\d"
    r"|(?:\d{1,2}(?:st|nd|rd|th|er|º|°|\.)?[\s,\-]{1,2}(?:(?:de|of|di)\s)?)?[^\W\d_]{3,14}\.?[\s,\-]{1,2}(?:(?:de|del)\s)?"
    r"(?:\d{1,2}(?:st|nd|rd|th)?[\s,\-]{1,3}(?:(?:de|del|at)\s)?)?(?:19|20)\d\d)(?!\d)",
    re.I,
)
_POSTED = re.compile(
    r"\W*(?:(?:first )?(?:published|posted|publish(?:ed)? (?:on|date)|post (?:time|date)|date|written|created)\b"
    r"|veröffentlicht"
    r"|erstellt|publié|publicado|pubblicato|gepubliceerd|opublikowano|опубликовано"
    r"|発行|公開日|投稿日|掲載|发布|發布|发表|입력|작성일|등록)",
    re.I,
)
# The date of somebody's account, of an event, of the site's own words.
_NOT_THE_PAGES = re.compile(
    r"joined|registered|founded|member since|join date|since|©|copyright|expires?|until|born|last (?:visit|activ|seen)",
    re.I,
)
_MONTH_ALONE = re.compile(r"^[^\W\d_]{3,14}\.?[\s,\-]+(?:19|20)\d\d$")  # a month alone is no day
_URL_DATE = re.compile(
    r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_-]|$)|/((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?=\D)"
)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a reader sees: authors, when the page was published and changed."""

    authors: tuple[str, ...] = ()
    published: str | None = None
    modified: str | None = None


def sign(
    blocks: Blocks, facts: Facts, title: str | None, url: str | None, *, authors: bool, published: bool
) -> Signature:
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
    return Signature(found, when, changed)


def headings(blocks: Blocks, *levels: str) -> tuple[str, ...]:
    """The first visible headings of some levels (`h1`), in order."""
    places = islice((number for number, tag in enumerate(blocks.tags) if tag in levels), MAX_HEADINGS)
    return tuple(text for number in places if (text := text_of(blocks.elements[number])))


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
    """The authors of the nearest line that names some: one introduced as such, else one marked, else a linked name."""
    marked: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    for number in order:
        text = blocks.texts[number]
        if len(text) > LINE_CHARS or number == place:
            continue
        if people.is_prefix(text):  # "By" alone: the name is in the next block
            if number + 1 < len(blocks) and (names := _names_in(_pieces(blocks, number + 1))):
                return names
        elif people.PREFIX.match(text) and (names := _names_in(_pieces(blocks, number))):
            return names
        for element in _around(blocks, number):
            if element.tag in _NO_BYLINE:
                continue
            if not marked and _is_marked(element):
                marked = _names_in(element.itertext())
            if not linked and element.tag == "a" and _AUTHOR_PATH.search(element.get("href") or ""):
                linked = _names_in(element.itertext())
    return marked or linked or _beside_date(blocks, place) or _said_elsewhere(blocks, order)


def _beside_date(blocks: Blocks, place: int) -> tuple[str, ...]:
    """A name in a line of its own right under the title, with a date in it or in the line before or behind."""
    lines = range(place + 1, min(len(blocks), place + 1 + BESIDE))
    dated = {
        number for number in lines if len(blocks.texts[number]) <= LINE_CHARS and _DATE.search(blocks.texts[number])
    }
    for number in lines:
        if not dated.isdisjoint((number - 1, number, number + 1)) and len(blocks.texts[number]) <= LINE_CHARS:
            line = people.cut(blocks.texts[number])
            if _FULL_NAME.fullmatch(line) and (names := people.split(line)):
                return people.unique(names)
    return ()


def _said_elsewhere(blocks: Blocks, order: list[int]) -> tuple[str, ...]:
    """A line "Written by …" under the body; a shorter "By …" there may be anybody's."""
    for number in range(max(order) + 1, len(blocks)):
        text = blocks.texts[number]
        if len(text) <= SIGNED_CHARS and people.WRITTEN_BY.match(text):
            alone = people.is_prefix(text) and number + 1 < len(blocks)
            if names := _names_in(_pieces(blocks, number + 1 if alone else number)):
                return names
    return ()


def _is_marked(element: HtmlElement) -> bool:
    names = _names(element)
    return not names.isdisjoint(_AUTHOR_WORDS) and names.isdisjoint(_NOT_AUTHOR_WORDS)


def _pieces(blocks: Blocks, number: int) -> Iterator[str]:
    return (text for element, is_tail in blocks.pieces[number] if (text := element.tail if is_tail else element.text))


def _names_in(pieces: Iterable[str]) -> tuple[str, ...]:
    """The names at the start of a byline: its first text that is none of "By", and what "and" or a comma adds to it."""
    line = ""
    for piece in islice((text for piece in pieces if (text := collapse(piece))), MAX_PIECES):
        if not line or people.is_prefix(line):
            line = f"{line} {piece}"[: 2 * LINE_CHARS].strip()
        elif people.joins(line, piece):
            line = f"{line} {piece}"[: 2 * LINE_CHARS]
        else:
            break
    return _plausible(people.unique(people.split(people.cut(line))))


def _plausible(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if len(name) <= 60 and len(name.split()) <= 6)


def _dates(blocks: Blocks, order: list[int], language: str | None) -> tuple[str | None, str | None]:
    """(published, changed): of the date lines near the title the nearest, else the first line behind that is marked."""
    changed: str | None = None
    weak: str | None = None
    left, lines = MAX_PARSED, MAX_DATED
    behind = range(max(order) + 1, len(blocks))
    for number in (*order, *behind):
        text = blocks.texts[number]
        if len(text) > LINE_CHARS or not left:
            continue
        is_near = number not in behind
        dated = _DIGITS.search(text) is not None and _DATE.search(text) is not None
        stamp = _stamp(blocks, number) if dated or is_near else None
        if not dated and not stamp:
            continue
        lines -= 1
        if not lines:
            break
        marked = bool(stamp) or _POSTED.match(text) is not None or _is_dated(blocks, number)
        if not is_near and not marked:
            continue
        for match in _DATE.finditer(text) if not stamp else (None,):
            before = text[: match.start()] if match else text
            if _MONTH_ALONE.match(match.group()) if match else False:
                continue
            left -= 1
            when = dates.moment(match.group() if match else stamp or "", language)
            if when and match and len(when) == len("2000-01-01"):
                when += dates.clock(text, match.end())
            if when is None or _NOT_THE_PAGES.search(before[-30:]):
                continue
            if _CHANGED.search(before[-30:]):
                changed = changed or when
            elif marked or match is None or len(text) - len(match.group()) <= ALONE_CHARS:
                return when, changed
            else:
                weak = weak or when
            if not left:
                break
    return weak, changed


def _stamp(blocks: Blocks, number: int) -> str | None:
    return next((e.get("datetime") for e in _around(blocks, number) if e.tag == "time" and e.get("datetime")), None)


def _is_dated(blocks: Blocks, number: int) -> bool:
    return any(not _names(element).isdisjoint(_DATE_WORDS) for element in _around(blocks, number))


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
