"""What else a page says of itself: language, direction, address, description, keywords, section, licence."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any, Literal
from urllib.parse import urlsplit

from service.extraction.dom import collapse, printable
from service.extraction.facts import Facts, string
from service.extraction.metadata.schema import works
from service.extraction.urls import resolve_web

MAX_KEYWORDS, MAX_KEYWORD_CHARS = 50, 100
"""Keywords kept, and their longest."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}", re.I)
_RIGHT_TO_LEFT = frozenset("ar arc ckb dv fa he iw ks ku nqo pa-arab ps sd syr ug ur uz-arab yi".split())
_RTL_LETTERS = re.compile(r"[֐-ࣿיִ-﷿ﹰ-ﻼ]")
_LETTERS = re.compile(r"[^\W\d_]")
SAMPLE_CHARS = 5_000
"""Characters of the body by which a direction that nothing declares is told."""


def language_of(facts: Facts) -> str | None:
    """The page's language as a BCP 47 tag: `<html lang>`, JSON-LD, `content-language`, `og:locale`."""
    declared = [string(node.get("inLanguage"), "alternateName", "name") for node in works(facts)]
    meta = facts.meta
    for value in (
        facts.language,
        *declared,
        meta.get("content-language"),
        meta.get("og:locale"),
        meta.get("dc.language"),
    ):
        tag = (value or "").strip().replace("_", "-")
        if _LANGUAGE.fullmatch(tag):
            head, *rest = tag.split("-")
            return "-".join([head.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])
    return None


def direction_of(facts: Facts) -> Literal["ltr", "rtl"] | None:
    """`ltr` or `rtl`: as declared, else by the language; None where neither tells."""
    declared = (facts.direction or "").strip().lower()
    if declared in ("ltr", "rtl"):
        return "rtl" if declared == "rtl" else "ltr"
    if language := language_of(facts):
        tag = language.lower()
        return "rtl" if tag in _RIGHT_TO_LEFT or tag.partition("-")[0] in _RIGHT_TO_LEFT else "ltr"
    return None


def direction_of_letters(text: str) -> Literal["ltr", "rtl"] | None:
    """The direction of most letters at a text's beginning; None where it has no letters."""
    letters = len(_LETTERS.findall(text[:SAMPLE_CHARS]))
    if not letters:
        return None
    return "rtl" if 2 * len(_RTL_LETTERS.findall(text[:SAMPLE_CHARS])) > letters else "ltr"


def canonical_of(facts: Facts, base: str | None) -> str | None:
    """The canonical address, absolute: `<link rel=canonical>`, then `og:url`; a malformed one is ignored."""
    for reference in (facts.canonical, facts.meta.get("og:url")):
        address = resolve_web(base, reference)
        if address and is_web(address):
            return address
    return None


def is_web(address: str) -> bool:
    """Whether an absolute address has a host that could be one: with a dot, no placeholder in it."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and ("." in host or ":" in host) and "%" not in host


def description_of(facts: Facts) -> str | None:
    """The page's description of itself."""
    meta = facts.meta
    return meta.get("og:description") or meta.get("description") or meta.get("twitter:description")


def keywords_of(facts: Facts) -> tuple[str, ...]:
    """Keywords: JSON-LD, `article:tag`, then `news_keywords` and `keywords`; each once."""
    for node in works(facts):
        if found := _words(_strings(node.get("keywords"))):
            return found
    for name in (
        "article:tag",
        "news_keywords",
        "keywords",
        "dc.subject",
        "parsely-tags",
        "sailthru.tags",
        "citation_keywords",
    ):
        if found := _words(facts.values.get(name, ())):
            return found
    return ()


def section_of(facts: Facts) -> str | None:
    """The section of its site that the page is in."""
    found = next((text for node in works(facts) if (text := string(node.get("articleSection"), "name"))), "")
    meta = facts.meta
    return found or meta.get("article:section") or meta.get("parsely-section") or None


def licence_of(facts: Facts, base: str | None) -> str | None:
    """The address, or else the words, of the licence: JSON-LD, `rel=license`, Dublin Core."""
    found = next((text for node in works(facts) if (text := string(node.get("license"), "url", "@id", "name"))), "")
    given = found or facts.licence or facts.meta.get("dc.rights") or facts.meta.get("dcterms.license")
    if not given:
        return None
    given = given.strip()
    looks_like_address = " " not in given and ("/" in given or "." in given)
    return (resolve_web(base, given) or given) if looks_like_address else given


def _strings(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [item if isinstance(item, str) else string(item, "name", "termCode") for item in values[: 4 * MAX_KEYWORDS]]


def _words(values: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for value in values:
        for part in re.split(r"[,;、，]", value[: MAX_KEYWORDS * MAX_KEYWORD_CHARS]):
            word = collapse(printable(html.unescape(part)))
            if word and len(word) <= MAX_KEYWORD_CHARS and len(found) < MAX_KEYWORDS:
                found.setdefault(word.casefold(), word)
    return tuple(found.values())
