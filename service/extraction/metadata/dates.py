"""When a page was published and changed: moments out of structured data, as ISO 8601 with their time zone."""

from __future__ import annotations

import logging
import re
from datetime import datetime
from functools import lru_cache
from itertools import islice

from service.extraction.dom import collapse
from service.extraction.facts import Facts, string
from service.extraction.metadata.schema import items, works

EARLIEST, LATEST = 1900, 2100
"""Years of a believable date. Fixed, not "today": the same page has to give the same answer always."""

MAX_CHARS = 80
"""Longest text that is read as a date; the longest form, weekday to time zone, has 60."""

MAX_DECLARED = 24
"""Declared dates that are tried: what is none of the forms read here costs 2 to 8 ms. On a third of
wcxb's pages the first is one wherever there is any."""

_PUBLISHED = (
    "article:published_time", "og:published_time", "datepublished", "date", "pubdate", "publishdate", "publish_date",
    "publish-date", "published_time", "publication_date", "publication-date", "dc.date.issued", "dcterms.issued",
    "dc.date", "dcterms.date", "dc.date.created", "dcterms.created", "dc:date", "citation_publication_date",
    "citation_online_date", "citation_date", "parsely-pub-date", "sailthru.date", "article.published", "date.created",
    "cxenseparse:recs:publishtime", "cxenseparse:publishtime", "datecreated", "created", "published",
    "originalpublicationdate", "og:article:published_time", "article_date_original", "published_at",
    "releasedate", "timestamp", "rnews:datepublished", "bt:pubdate", "published-date", "article-published",
    "uploaddate",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:modified_time", "datemodified", "lastmod", "og:updated_time", "last-modified",
    "dcterms.modified", "dc.date.modified", "modified_time", "updated_time", "article:modified", "revised",
    "article.updated", "last_modified", "modified", "dateupdated",
)  # fmt: skip
# A site's own names for the same.
_PUBLISHED_SHAPE = re.compile(
    r"(?:publish(?:ed)?|publication|pub|issued?|released?)[-_.: ]?(?:date|time|on|at|day)?(?:[-_.]?(?:time|utc))?$"
    r"|^ms\.date$"
)
_MODIFIED_SHAPE = re.compile(
    r"(?:modified|modification|updated?|lastmod)[-_.: ]?(?:date|time|on|at)?$|^last[-_ ]?update"
)
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T\s]+(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?\s*(Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d)?)?",
    re.I | re.A,
)
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T?\d{4,6}Z?)?", re.A)
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])", re.A)
_SLASHED = re.compile(r"(\d{4})\s?[/.年년]\s?(\d{1,2})\s?[/.月월]\s?(\d{1,2})\s?(?:[日일.])?(?=\D|$)")
_MORNING, _AFTERNOON = ("am", "오전", "午前", "上午"), ("pm", "오후", "午後", "下午")
_CLOCK = re.compile(
    r"[\s,|·•–-]{0,4}(?:(?:at|um|à|alle|às|las|kl\.?|klo)\s{1,2})?(?:\([^)]{1,4}\)\s?)?(오전|오후|午前|午後|上午|下午)?\s?"
    r"([01]?\d|2[0-3])\s?[:h時시点點]\s?([0-5]\d)(?::([0-5]\d))?(?!\d)\s?([ap]\.?m\.?)?\s?(Z\b|UTC|GMT|[+-]\d\d:?\d\d)?",
    re.I | re.A,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20|25)\d\d(?!\d)|’\d\d$")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.I)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,3}", re.I)


def published(facts: Facts) -> str | None:
    """When the page says that it was published: JSON-LD, its repair, `<meta>`, then microdata."""
    return _first(facts, ("datePublished", "uploadDate", "dateCreated"), _PUBLISHED, _PUBLISHED_SHAPE)


def modified(facts: Facts) -> str | None:
    """When the page says that it was last changed, from the same sources."""
    return _first(facts, ("dateModified",), _MODIFIED, _MODIFIED_SHAPE)


def _first(facts: Facts, keys: tuple[str, ...], names: tuple[str, ...], shape: re.Pattern[str]) -> str | None:
    language = facts.language
    declared = [node.get(name) for name in keys for node in works(facts)]
    declared += [facts.meta.get(name) for name in names]
    declared += [value for name, value in facts.meta.items() if shape.search(name)]
    declared += [node.get(name) for name in keys for node in items(facts)]
    tried = islice(filter(None, declared), MAX_DECLARED)
    return next((found for value in tried if (found := moment(string(value, "@value"), language))), None)


def moment(text: str, language: str | None = None) -> str | None:
    """A date in ISO 8601, to the precision and with the time zone of the text; None where the text is none.

    ISO forms and East Asian ones are read here, all others by dateparser, absolute dates only.
    """
    text = collapse(text).strip("\"' .")
    if not 6 <= len(text) <= MAX_CHARS or not any(char.isdigit() for char in text):
        return None
    if match := _ISO.match(text):
        return _iso(match)
    if (match := _COMPACT.fullmatch(text)) or (match := _SLASHED.match(text)):
        day = _day(*(int(part) for part in match.groups()))
        return f"{day}{clock(text, match.end())}" if day else None
    if _MONTH.fullmatch(text) and EARLIEST <= int(text[:4]) <= LATEST:
        return text
    if not _YEAR.search(text):
        return None
    return _parsed(_ORDINAL.sub("", text), language if _LANGUAGE.fullmatch(language or "") and language else "en")


def _iso(match: re.Match[str]) -> str | None:
    year, month, day, hour, minute, second, zone = match.groups()
    date = _day(int(year), int(month), int(day))
    if date is None or hour is None or int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59:
        return date
    zone = (zone or "").upper()
    zone = "Z" if zone in ("UTC", "GMT") else zone
    if zone and zone != "Z":
        minutes = zone[-2:] if len(zone) > 3 else "00"
        zone = f"{zone[:3]}:{minutes}" if int(zone[1:3]) <= 14 and int(minutes) <= 59 else ""
    return f"{date}T{hour}:{minute}:{second or '00'}{zone}"


def _day(year: int, month: int, day: int) -> str | None:
    if 2443 <= year <= 2643:  # the Buddhist era
        year -= 543
    try:
        return datetime(year, month, day).date().isoformat() if EARLIEST <= year <= LATEST else None
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _parsed(text: str, language: str) -> str | None:
    """A date as dateparser reads it: as the page's language and region write it ("03.05." is May in Germany), else as
    its language, else as English."""
    # Imported when the first such date is met: 0.2 s and 20 MB that most pages never need.
    import dateparser

    settings = {
        "STRICT_PARSING": True,
        "PARSERS": ["absolute-time"],  # "two days ago" would give another answer each day
    }
    code, _, region = language.replace("_", "-").partition("-")
    code = code.lower()
    found = None
    # One after the other: of several languages it takes the one that it knows best.
    for known in (
        *([{"locales": [f"{code}-{region.upper()}"]}] if region else []),
        {"languages": [code]},
        {"languages": ["en"]},
    ):
        try:
            found = dateparser.parse(text, settings=settings, **known)
        except ValueError:  # a language that it does not know
            continue
        except Exception:  # its parsers raise whatever a stranger's text makes them; a date is not worth a page
            logging.getLogger("bonmun.dates").debug("a date could not be read", exc_info=True)
            continue
        if found is not None:
            break
    if found is None:
        return None
    date = _day(found.year, found.month, found.day)
    if date is None or not (found.hour or found.minute):
        return date
    return f"{date}{found.isoformat()[10:]}"


def clock(text: str, start: int = 0) -> str:
    """The time of day that follows a date in a line, as `T08:30:00` with its zone, if any; nothing where none does."""
    match = _CLOCK.match(text, start)
    if match is None:
        return ""
    before, hours, minutes, seconds, after, zone = match.groups()
    hour, half = int(hours), (before or after or "").lower().replace(".", "")
    if half in _AFTERNOON and hour < 12:
        hour += 12
    elif half in _MORNING and hour == 12:
        hour = 0
    if hour > 23:
        return ""
    found = _ISO.match(f"2000-01-01T{hour:02d}:{minutes}:{seconds or '00'}{zone or ''}")
    return (_iso(found) or "")[10:] if found else ""
