"""Who wrote a page: names out of structured data, and what is a name at all."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from service.extraction.dom import collapse, printable
from service.extraction.facts import Facts, types
from service.extraction.metadata.schema import items, works
from service.extraction.metadata.title import key

MAX_AUTHORS = 30
"""Authors named at most: the longest list of an article on the boards has 20."""

MAX_NAME_CHARS = 100
"""Longest name, of a board of editors for instance; what is longer is a sentence."""

_META = (
    "author", "article:author", "og:article:author", "og:author", "book:author", "parsely-author", "sailthru.author",
    "citation_author", "dc.creator", "dcterms.creator", "dc:creator", "dcterms:creator", "byl", "byline",
    "article.author", "authors", "author-name", "content_author", "cxenseparse:author", "article:author_name",
    "bt:author", "twitter:creator:name",
)  # fmt: skip
_ORGANISATIONS = frozenset(("Organization", "NewsMediaOrganization", "Corporation", "WebSite", "Brand"))

# Words that introduce an author, at the start of a byline.
PREFIX = re.compile(
    r"^\W*(?:(?:(?:written|posted|published|authored|reviewed|created|compiled|edited|story|words|text|article|blog"
    r"|report(?:ed|ing)?|started|submitted|asked|contributed|updated|guest post|first published)\s+)?by(?=[\s:])"
    r"|authors?(?=\s+\w)|(?:authors?|writer|words|text|autor(?:in|es?|a)?|auteure?|autore|redactor|författare"
    r"|kirjoittaja|yazan|yazar"
    r"|автор|текст|写者|作者|撰文|记者|記者|文|著者|筆者|執筆|글|기자|저자|작성자|글쓴이|penulis|oleh"
    r"|tác giả)\s*[:：/|]"
    r"|(?:von|par|por|door|av|af|przez|od|di|oleh|od|bởi|escrito por|publicado por|publié par|écrit par"
    r"|geschrieben von|veröffentlicht von|scritto da|pubblicato da|a cura di|de la|autor|autorin|text)\s(?=\S))"
    r"[\s:：]*",
    re.I,
)
# What is said of nobody but the author, wherever it stands.
WRITTEN_BY = re.compile(
    r"\W*(?:(?:written|authored|article|story|words) by|about the author|author\s?:|geschrieben von|escrito por"
    r"|écrit par|scritto da|작성자|글쓴이|作者|撰文|執筆|著者|筆者)",
    re.I,
)
_SUFFIX = re.compile(r"\s*(?:기자|특파원|記者|记者)\s*$")
# Where a byline goes on with something else than names.
_END = re.compile(
    r"\s+(?:[|•·–—/»⋅∙,\-](?=\s)|on\b|updated\b|published\b|posted\b|last\b|reviewed\b|edited\b|medically\b"
    r"|fact[- ]checked\b"
    r"|in\b(?=\s)|for\b(?=\s)|at\b(?=\s)|le\b|am\b(?=\s\d)|vor\b(?=\s)|\d)|\s*[|•·⋅»(\[\n]|\s{2,}|,?\s*"
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sep|sept|oct|nov|dec)[a-z]{0,6}\.?\s+\d",
    re.I,
)
_DATED = re.compile(r"\d{1,4}[\s./年:-]\s?\d{1,2}|\b(?:19|20)\d\d\b|^\W*\d+\W*$|\d{1,2}:\d\d")
_ADDRESS = re.compile(r"https?:|www\.|[\w.+-]+@[\w-]+\.\w|^@|\.(?:com|org|net|php|html?)\b", re.I)
# A phrase with one of these is said to the reader, or of a list: "By continuing, you agree to our …".
_NO_NAME_WORDS = frozenset(
    "you your our we us this that to is are was agree continuing meet posts articles more how what view see read "
    "subscribe newsletter minutes mins ago comments views".split()
)
_CALENDAR = re.compile(
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|ember"
    r"|tember|ober)?)\.?(?:\s+\d{1,2}(?:st|nd|rd|th)?)?$",
    re.I,
)
_NO_NAME = frozenset(
    (
        "admin administrator root user guest anonymous author authors unknown none null undefined webmaster editor "
        "editors by you me us here email share home comments comment reply moderator default super staff "
        "facebook twitter x linkedin instagram youtube mastodon bluesky rss link print save experts expert subscribe "
        "redacción redaktion redazione rédaction follow posted profile about test wordpress "
        "support member newmember login signin"
    ).split()
) - {"staff"}
_JOINTS = re.compile(r"\s*(?:;|\s&\s|\s(?:and|und|et|y|e|och|og|en|i|i|и)\s)\s*|\s*,\s*|\s*[、，]\s*")
_JOINT_END = re.compile(r"(?:[,;&、]|\s(?:and|und|et|y|e|och|og|en|with))$", re.I)
_JOINT_START = re.compile(r"(?:[,;&、]|(?:and|und|et|y|e|och|og|en|with)\s)(?=.)|(?:[,;&、]|and|und|et|y)$", re.I)
_DEGREE = re.compile(
    r"^(?:(?:[a-z]{1,3}\.){1,4}[a-z]?|m\.?d|ph\.?\s?d|msc?|bsc?|rdn?|rn|mba|mph|ma|ba|jr\.?|sr\.?|cpa|esq\.?|dds|dvm|ldn?"
    r"|cscs|fand|dpt|pharmd|apr|cfp|llm|jd|dacvb|lvt|vts|facl?m|i{2,3}|iv|[A-Z]{2,6})$",
    re.I,
)


def named(facts: Facts, site: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(people, organisations) that structured data names as authors: the first source that has any, for each.

    The order is JSON-LD, its repair, `<meta>`, then microdata. The site's own name is no person.
    """
    own = key(site or "")
    firms: list[str] = []
    for people in (_of_nodes(works(facts), facts, own, firms), _of_meta(facts, own, firms), _labelled(facts)):
        if people:
            return people, tuple(firms[:1])
    return _of_nodes(items(facts), facts, own, firms), tuple(firms[:1])


def _of_nodes(nodes: list[dict[str, Any]], facts: Facts, own: str, firms: list[str]) -> tuple[str, ...]:
    for node in nodes:
        found = list(_persons(node.get("author") or node.get("creator"), facts))
        people = [name for name, is_person in found if is_person and key(name) != own]
        firms.extend(name for name, is_person in found if not is_person or key(name) == own)
        if people:
            return unique(people)
    return ()


def _of_meta(facts: Facts, own: str, firms: list[str]) -> tuple[str, ...]:
    for name in _META:
        found = [part for value in facts.values.get(name, ()) for part in split(_given_first(name, value))]
        people = [part for part in found if key(part) != own]
        firms.extend(part for part in found if key(part) == own)
        if people:
            return unique(people)
    return ()


def _labelled(facts: Facts) -> tuple[str, ...]:
    """`twitter:label1` = "Written by", `twitter:data1` = the name: what the commonest SEO plugin writes."""
    for number in ("1", "2"):
        label = facts.meta.get(f"twitter:label{number}", "")
        if PREFIX.match(f"{label} x") or PREFIX.match(f"{label}: x"):
            return unique(split(facts.meta.get(f"twitter:data{number}", "")))
    return ()


def _given_first(name: str, value: str) -> str:
    """A name of a citation, "Family, Given", in the usual order."""
    if name == "citation_author" and value.count(",") == 1:
        family, given = (part.strip() for part in value.split(","))
        return f"{given} {family}"
    return value


def _persons(value: Any, facts: Facts) -> Iterator[tuple[str, bool]]:
    """(name, whether of a person) of a schema.org `author`, in whatever form it has."""
    queue = [value]
    for _ in range(4 * MAX_AUTHORS):
        if not queue:
            return
        item = queue.pop(0)
        if isinstance(item, list):
            queue[:0] = item[:MAX_AUTHORS]
        elif isinstance(item, dict):
            found = item if item.get("name") or item.get("_text") else facts.named.get(str(item.get("@id")), {})
            name = found.get("name") or found.get("_text")
            name = name[0] if isinstance(name, list) and name else name
            if isinstance(name, str):
                for part in split(name):
                    yield part, types(found).isdisjoint(_ORGANISATIONS)
            elif isinstance(name, list | dict):
                queue.insert(0, name)
        elif isinstance(item, str):
            for part in split(item):
                yield part, True


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names once each, in order."""
    return tuple({key(name): name for name in reversed([*names])}.values())[::-1][:MAX_AUTHORS]


def split(text: str) -> list[str]:
    """The names in a text that holds names: joined by commas, "and" and the like; a degree stays with its name."""
    found: list[str] = []
    text = collapse(printable(html.unescape(html.unescape(text[: MAX_NAME_CHARS * MAX_AUTHORS]))))
    text = _SUFFIX.sub("", PREFIX.sub("", text, count=1))
    for piece in _JOINTS.split(text):
        name = piece.strip(" \t,;:|·•-–—\"'“”")
        if found and _DEGREE.match(name):
            found[-1] = f"{found[-1]}, {name}"
        elif is_name(name):
            found.append(name)
    return found


def joins(line: str, piece: str) -> bool:
    """Whether a byline goes on with a piece of text: one of the two is, ends or begins with what joins names."""
    return bool(_JOINT_END.search(line) or _JOINT_START.match(piece))


def cut(text: str) -> str:
    """A visible byline without what introduces it and what follows the names."""
    text = PREFIX.sub("", collapse(text[: 4 * MAX_NAME_CHARS]), count=1)
    end = _END.search(text, 1) if text else None
    return (text[: end.start()] if end else text).strip(" ,;:|·•-–—")


def is_name(text: str) -> bool:
    """Whether a text can be an author's name: no date, no address, no handle, no sentence, not only a role."""
    if not 1 < len(text) <= MAX_NAME_CHARS or not any(char.isalpha() for char in text):
        return False
    if _DATED.search(text) or _ADDRESS.search(text) or text.rstrip(".").endswith(("!", "?")):
        return False
    if text.casefold().strip(".") in _NO_NAME or is_prefix(text) or _CALENDAR.match(text):
        return False
    parts = text.casefold().split()
    return len(parts) <= 9 and _NO_NAME_WORDS.isdisjoint(parts)


def is_prefix(text: str) -> bool:
    """Whether a text only introduces a name: "Written by"."""
    return any(
        (match := PREFIX.match(f"{text}{mark} X")) and match.end() == len(text) + len(mark) + 1 for mark in ("", ":")
    )
