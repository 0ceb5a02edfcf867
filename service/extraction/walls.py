"""Walls and dead pages: named by phrase, by challenge mark-up and by upstream status, never returned as a body.

The phrases stand in `walls.yaml`, by kind and language. A page is one only while it is short: an
article that quotes a wall, or merely loads a vendor's script, passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import text_lines
from service.extraction.status import failure_of_status
from service.failures import BlockedBySite, Failure, PageNotFound
from service.settings import Extraction

PROSE_CHARS = 80
"""Characters from which a line is prose, the evidence that a page is more than its notice."""

REST_CHARS = 800
"""Prose beside the notice from which the page is an article about it. The longest wall measured has 704 in all."""

MARKUP_CHARS = 700
"""Visible text up to which challenge mark-up makes a page a challenge; pages that load such a script have more."""

_NO_LETTER = re.compile(r"[\W\d_]+")
_WIDE = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
WEAK_PROSE_CHARS = 60
"""Letters of a line from which a page has prose, and a captcha on it is some form's."""

MARKUP_SOURCE_CHARS = 200_000
"""Longest source that is searched for challenge mark-up; the largest challenge measured has 23,487 bytes."""

TITLE_ENDING = 4
"""Letters that may follow a phrase in a title."""

_PARTS = re.compile(r"\s+[|–—·:-]\s+|\s*[|｜:]\s*")
_QUOTES = "\"'“”‘’„‟«»‹›「」『』〈〉《》＂"


@dataclass(frozen=True, slots=True)
class Phrases:
    """The compiled phrases of one kind of wall."""

    anywhere: re.Pattern[str]
    titles: re.Pattern[str] | None


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("walls.yaml").read_text(encoding="utf-8"))
    return data


@cache
def _phrases(kind: str) -> Phrases:
    section = _data()[kind]
    titles = [phrase for group in section.get("titles", {}).values() for phrase in group]
    phrases = [phrase for group in section["phrases"].values() for phrase in group]
    return Phrases(_any_of(phrases), _any_of(titles) if titles else None)


@cache
def _markup(section: str) -> list[tuple[str, re.Pattern[str]]]:
    return [(vendor, re.compile("|".join(patterns), re.I)) for vendor, patterns in _data()[section].items()]


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(fold(phrase)) for phrase in sorted(phrases, key=len, reverse=True)))


def size(text: str) -> int:
    """Letters, those of Chinese, Japanese and Korean counted twice: they say as much as two Latin ones."""
    return len(_NO_LETTER.sub("", text)) + len(_WIDE.findall(text))


def _is_short(root: HtmlElement, most: int) -> bool:
    """Whether the visible text has at most so many letters: an obfuscated script, shown as text, is no prose."""
    letters = 0
    for text in root.itertext():
        if not text.isspace():
            letters += len(_NO_LETTER.sub("", text))
            if letters > most:
                return False
    return True


def fold(text: str) -> str:
    """Text as phrases are compared: case-folded, white space folded, one apostrophe."""
    return " ".join(text.replace("’", "'").casefold().split())


def failure_of_page(root: HtmlElement, title: str, html: str, status: int, weights: Extraction) -> Failure | None:
    """The wall or dead page that a pruned page is, or what its status says; None when it is an honest page.

    Long pages are no walls. A refusal (401, 403 and the other 4xx) that comes with more text than any wall
    has is a page whose origin answers oddly, and is read; missing pages and 5xx are failures whatever they say.
    """
    if _is_short(root, weights.bot_wall_chars):
        return wall_of(title, text_lines(root), html, status, weights) or failure_of_status(status)
    failure = failure_of_status(status)
    return None if isinstance(failure, BlockedBySite) else failure


def wall_of(title: str | None, lines: list[str], html: str, status: int, weights: Extraction) -> Failure | None:
    """The failure that a page of these visible `lines` is, or None when it is an honest page.

    `lines` are the blocks of the whole page after noise, `html` its source, `status` the origin's answer.
    """
    total = sum(len(_NO_LETTER.sub("", line)) for line in lines)
    if total <= MARKUP_CHARS and len(html) <= MARKUP_SOURCE_CHARS:
        plain = all(size(line) < WEAK_PROSE_CHARS for line in lines)
        for vendor, pattern in (*_markup("markup"), *(_markup("weak_markup") if plain else ())):
            if pattern.search(html):
                return BlockedBySite(
                    f"The site answers with a {vendor} challenge.",
                    reason=f"challenge: {vendor}",
                    upstream_status=status,
                )
    for kind in ("bot", "login", "consent", "region", "dead"):
        if total > (weights.bot_wall_chars if kind == "bot" else weights.dead_page_chars):
            continue
        evidence = _evidence(kind, title, lines)
        if evidence is not None:
            if kind == "dead":
                return PageNotFound("The page does not exist or was deleted.", reason=evidence, upstream_status=status)
            return BlockedBySite(_MESSAGES[kind], reason=f"{kind}: {evidence}", upstream_status=status)
    return None


_MESSAGES = {
    "bot": "The site refuses automated readers.",
    "login": "The site shows the page to signed-in readers only.",
    "consent": "The site shows a consent screen instead of the page.",
    "region": "The site does not serve this region.",
}


def _evidence(kind: str, title: str | None, lines: list[str]) -> str | None:
    """The phrase found, unless the page has prose of its own beside it."""
    phrases = _phrases(kind)
    rest = 0
    found: str | None = None
    for line in lines:
        folded = fold(line)
        match = next((m for m in phrases.anywhere.finditer(folded) if not is_quoted(folded, m)), None)
        if match is not None:
            found = found or match.group(0)
        elif (letters := size(line)) >= PROSE_CHARS:
            rest += letters
    # A title alone proves nothing: an article may be called so. With hardly any prose, and a word of its kind, it does.
    if found is None and title and phrases.titles and rest < PROSE_CHARS * 3 and _speaks_of(kind, title, lines):
        found = next((part for part in _PARTS.split(fold(title)) if _is_titled(part, phrases.titles)), None)
    return found if rest < REST_CHARS else None


def _speaks_of(kind: str, title: str, lines: list[str]) -> bool:
    """Whether the text, its title's copies left out, uses a word of such pages; a page without text does."""
    own = fold(title)
    text = " ".join(folded for line in lines if (folded := fold(line)) not in own)
    return not text or any(word in text for word in _data()["words"][kind])


def _is_titled(part: str, titles: re.Pattern[str]) -> bool:
    """Whether a part of a title is such a phrase, up to a grammatical ending: "Not found in the river" is none."""
    part = part.strip(" .!?…")
    match = titles.match(part)
    return match is not None and len(part) - match.end() <= TITLE_ENDING


def is_quoted(line: str, match: re.Match[str]) -> bool:
    """Whether a phrase stands between quotation marks in a longer line: somebody else's words."""
    before, after = line[: match.start()].rstrip(), line[match.end() :].lstrip(" .!…。")
    opens = any(before.count(mark) for mark in _QUOTES if mark != "'")
    return bool(opens and any(mark in after for mark in _QUOTES)) and len(line) > len(match.group(0)) * 1.5
