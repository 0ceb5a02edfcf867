"""Walls and dead pages: named by phrase, by challenge mark-up and by upstream status, never returned as a body.

The phrases stand in `walls.yaml`, by kind and language. A phrase alone proves nothing: an honest page may use it
of something else. It takes a short page, and more that agrees (`_Shape.balance`): the title, a form, the status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import text_lines, text_of
from service.extraction.facts import Facts
from service.extraction.status import failure_of_status
from service.failures import BlockedBySite, Failure, PageNotFound, UpstreamError
from service.settings import Extraction

PROSE_CHARS = 80
"""Letters from which a line is prose, the evidence that a page is more than its notice."""

REST_CHARS = 800
"""Prose beside the notice from which the page is an article about it. The longest wall measured has 704 in all."""

BARE_CHARS = 120
"""Letters outside links, headings and the notice itself up to which a page is nothing but its notice."""

MARKUP_CHARS = 700
"""Visible text up to which challenge mark-up makes a page a challenge; pages that load such a script have more."""

MARKUP_SOURCE_CHARS = 200_000
"""Longest source that is searched for challenge mark-up; the largest challenge measured has 23,487 bytes."""

WEAK_PROSE_CHARS = 60
"""Letters of a line from which a page has prose, and a captcha on it is some form's."""

TITLE_ENDING = 4
"""Letters that may follow a phrase in a title."""

ENOUGH = 2
"""Balance of evidence from which a phrase is the page's own: one strong sign, or two weak ones."""

HEADINGS = 24
"""Headings that are looked at; no wall measured has more than five."""

QUOTED_CHARS = 500
"""Characters around a phrase in which its quotation marks are looked for."""

_NO_LETTER = re.compile(r"[\W\d_]+")
_WIDE = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_PARTS = re.compile(r"\s+[|–—·:-]\s+|\s*[|｜:：]\s*")
_QUOTES = "\"'“”‘’„‟«»‹›「」『』〈〉《》＂"
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")
_ADDRESS = re.compile(r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:[/?#]\S*)?", re.I)
_ARTICLES = ("Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle", "Recipe", "Product")
_LESSONS = ("FAQPage", "HowTo", "QAPage", "Question")
_NAMED = frozenset(("description", "og:description", "og:image", "og:url"))


@dataclass(frozen=True, slots=True)
class Phrases:
    """The compiled phrases of one kind of wall."""

    anywhere: re.Pattern[str]
    titles: re.Pattern[str] | None
    forms: re.Pattern[str] | None


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("walls.yaml").read_text(encoding="utf-8"))
    return data


@cache
def _phrases(kind: str) -> Phrases:
    section = _data()[kind]
    titles = [phrase for group in section.get("titles", {}).values() for phrase in group]
    phrases = [phrase for group in section["phrases"].values() for phrase in group]
    forms = section.get("forms")
    return Phrases(
        _any_of(phrases), _any_of(titles) if titles else None, re.compile("|".join(forms)) if forms else None
    )


@cache
def _markup(section: str) -> list[tuple[str, re.Pattern[str]]]:
    return [(vendor, re.compile("|".join(patterns))) for vendor, patterns in _data()[section].items()]


@cache
def _addressed() -> re.Pattern[str]:
    return re.compile("|".join(pattern for group in _data()["addressed"].values() for pattern in group))


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


def failure_of_page(root: HtmlElement, facts: Facts, html: str, status: int, weights: Extraction) -> Failure | None:
    """The wall or dead page that a pruned page is, or what its status says; None when it is an honest page.

    Long pages are no walls. A refusal (401, 403 and the other 4xx) that comes with more text than any wall
    has is a page whose origin answers oddly, and is read; missing pages and 5xx are failures whatever they say.
    A challenge may come with 429 or 503, and stays one.
    """
    told = failure_of_status(status)
    if isinstance(told, PageNotFound) or (status >= 500 and status != 503):
        return told
    if _is_short(root, weights.bot_wall_chars):
        return wall_of(root, facts, html, status, weights) or told
    return None if isinstance(told, BlockedBySite) else told


def wall_of(root: HtmlElement, facts: Facts, html: str, status: int, weights: Extraction) -> Failure | None:
    """The failure that a page is by its words or mark-up, or None when it is an honest page.

    `root` is the whole page after noise, `html` its source, `status` the origin's answer.
    """
    shape = _Shape(root, facts, html, status)
    total = sum(len(_NO_LETTER.sub("", line)) for line in shape.lines)
    if total <= MARKUP_CHARS and len(html) <= MARKUP_SOURCE_CHARS and (vendor := _challenge(shape)):
        article = "an" if vendor[0] in "AEIOU" and not vendor.startswith("Uni") else "a"
        message = f"The site answers with {article} {vendor} challenge."
        return BlockedBySite(message, reason=f"challenge: {vendor}", upstream_status=status)
    for kind, (failure, message) in _FAILURES.items():
        if total <= (weights.bot_wall_chars if kind == "bot" else weights.dead_page_chars):
            evidence = shape.evidence(kind)
            if evidence is not None:
                reason = evidence if failure is PageNotFound else f"{kind}: {evidence}"
                return failure(message, reason=reason, upstream_status=status)
    return None


_FAILURES: dict[str, tuple[type[Failure], str]] = {
    "bot": (BlockedBySite, "The site refuses automated readers."),
    "rate": (UpstreamError, "The site asks for fewer requests."),
    "login": (BlockedBySite, "The site shows the page to signed-in readers only."),
    "consent": (BlockedBySite, "The site shows a consent screen instead of the page."),
    "region": (BlockedBySite, "The site does not serve this region."),
    "maintenance": (UpstreamError, "The site is closed for maintenance or cannot be reached."),
    "dead": (PageNotFound, "The page does not exist or was deleted."),
}
"""What each kind of wall is to a caller, in the order in which they are looked for."""


def _challenge(shape: _Shape) -> str | None:
    """The vendor whose challenge a page is by its mark-up, unless the page shows that mark-up as its text."""
    plain = all(size(line) < WEAK_PROSE_CHARS for line in shape.lines)
    # What honest pages load too: a challenge says nothing, and describes itself to nobody.
    empty = plain and _NAMED.isdisjoint(shape.facts.meta)
    sections = ("markup", *(("weak_markup",) if plain else ()), *(("loaded",) if empty else ()))
    for section in sections:
        for vendor, pattern in _markup(section):
            match = pattern.search(shape.source)
            if match is not None and (section == "weak_markup" or match.group(0) not in shape.shown):
                return vendor
    return None


@dataclass
class _Shape:
    """A short page as its walls are judged: its words, and all that may agree with them."""

    root: HtmlElement
    facts: Facts
    html: str
    status: int

    @cached_property
    def lines(self) -> list[str]:
        return text_lines(self.root)

    @cached_property
    def source(self) -> str:
        return self.html[:MARKUP_SOURCE_CHARS].lower()

    @cached_property
    def shown(self) -> str:
        return "\n".join(self.lines).lower()

    @cached_property
    def headings(self) -> list[str]:
        found = (
            fold(text_of(h)) for h, _ in zip(self.root.iter("h1", "h2", "h3", "h4"), range(HEADINGS), strict=False)
        )
        return [text for text in found if text]

    @cached_property
    def names(self) -> list[str]:
        """The parts of the title that do not name the site; none of a title that is but an address."""
        title = fold(self.facts.title)
        sites = {fold(self.facts.meta.get("og:site_name", "")), *self._home}
        parts = [] if _ADDRESS.fullmatch(title) else [part.strip(" .!…") for part in _PARTS.split(title)]
        return [part for part in parts if part and part not in sites and not _ADDRESS.fullmatch(part)]

    @cached_property
    def _home(self) -> set[str]:
        """What links to the front page are called: as a rule the site's name."""
        return {fold(text_of(a)) for a in self.root.iter("a") if a.get("href") in ("/", "./", "")}

    @cached_property
    def linked(self) -> int:
        return sum(size(text_of(a)) for a in self.root.iter("a"))

    def evidence(self, kind: str) -> str | None:
        """The phrase that makes the page a wall of that kind; None when it is none."""
        phrases = _phrases(kind)
        rest = own = 0
        found: list[str] = []
        said: list[str] = []
        for line in self.lines:
            before = len(found)
            for sentence in _SENTENCE.split(line):
                folded = fold(sentence)
                match = next((m for m in phrases.anywhere.finditer(folded) if self._counts(folded, m)), None)
                if match is not None:
                    found.append(match.group(0))
                    said.append(folded)
                elif folded not in self.headings:
                    own += size(sentence)
            if len(found) == before and (letters := size(line)) >= PROSE_CHARS:
                rest += letters
        if rest >= REST_CHARS:
            return None
        titled = next(self._titled(phrases), None)
        if not found:
            # A title alone proves nothing: an article may be called so. With hardly any prose and a word of its kind, it does.
            if titled is None or rest >= PROSE_CHARS * 3 or not self._speaks_of(kind):
                return None
            found = [titled]
        bare = own - self.linked <= BARE_CHARS
        return found[0] if self.balance(kind, found, said, rest, titled is not None, bare) >= ENOUGH else None

    def balance(self, kind: str, found: list[str], said: list[str], rest: int, titled: bool, bare: bool) -> int:
        """What speaks for a wall less what speaks against it; strong signs weigh two, weak ones one.

        Strong: the title or a heading is the phrase; the origin refuses; a form or a class that only such a
        page has; a page that is nothing but the phrase. Weak: more than one phrase; words to the reader; little else;
        hidden from search engines; a title that is an address. Against: a title of its own, and an article's or a lesson's declaration,
        questions as headings, prose. What nothing strong speaks for is no wall under a title of its own.
        """
        forms = _phrases(kind).forms
        formed = forms is not None and forms.search(self.source) is not None
        letters, phrase = sum(map(size, said)), sum(map(size, found))
        alone = bool(said) and bare and phrase >= letters / 2
        strong = titled + formed + alone + (self.status >= 400)
        named = bool(self.names) and not titled
        if not strong and named:
            return 0
        noindex = "noindex" in self.facts.meta.get("robots", "").lower()
        addressed = any(_addressed().search(sentence) for sentence in said) or (
            not said and _addressed().search(self.shown)
        )
        weak = (len(set(found)) > 1) + bool(addressed) + bare + noindex + (bool(self.facts.title) and not self.names)
        declared = any(True for _ in self.facts.of_type(*_ARTICLES)) or self.facts.meta.get("og:type") == "article"
        lesson = any(True for _ in self.facts.of_type(*_LESSONS))
        asks = any(h.endswith(("?", "？")) and not _phrases(kind).anywhere.search(h) for h in self.headings)
        against = named + declared + 2 * lesson + asks + (rest >= REST_CHARS / 4) + (rest >= REST_CHARS / 2)
        return 2 * strong + weak - against

    @staticmethod
    def _counts(sentence: str, match: re.Match[str]) -> bool:
        """Whether a phrase is the page's own: no quotation, and no question about it."""
        asked = sentence.endswith(("?", "？")) and len(sentence) > len(match.group(0)) * 1.6
        return not asked and not is_quoted(sentence, match)

    def _titled(self, phrases: Phrases) -> Iterator[str]:
        """Parts of the title and headings that are such a phrase."""
        for text in (*self.names, *self.headings[:2]):
            if phrases.titles is not None and _is_titled(text, phrases.titles):
                yield text
            match = phrases.anywhere.search(text)
            if match is not None and self._counts(text, match) and size(match.group(0)) * 3 >= size(text):
                yield match.group(0)

    def _speaks_of(self, kind: str) -> bool:
        """Whether the text, its title's copies left out, uses a word of such pages; a page without text does."""
        own = fold(self.facts.title)
        text = " ".join(folded for line in self.lines if (folded := fold(line)) not in own)
        return not text or any(word in text for word in _data()["words"][kind])


def _is_titled(part: str, titles: re.Pattern[str]) -> bool:
    """Whether a part of a title is such a phrase, up to a grammatical ending: "Not found in the river" is none."""
    part = part.strip(" .!?…")
    match = titles.match(part)
    return match is not None and len(part) - match.end() <= TITLE_ENDING


def is_quoted(line: str, match: re.Match[str]) -> bool:
    """Whether a phrase stands between quotation marks in a longer line: somebody else's words."""
    start, end = match.span()
    before, after = line[max(0, start - QUOTED_CHARS) : start], line[end : end + QUOTED_CHARS].lstrip(" .!…。")
    opens = any(before.count(mark) for mark in _QUOTES if mark != "'")
    return bool(opens and any(mark in after for mark in _QUOTES)) and len(line) > len(match.group(0)) * 1.5
