"""Walls and dead pages: named by phrase, by challenge mark-up and by upstream status, never returned as a body.

The phrases stand in `walls.yaml`, by kind and language. A phrase alone proves nothing: an honest page may use it
of something else. It takes a short page, and more that agrees (`_Shape.balance`): the title, a form, the status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import text_lines, text_of
from service.extraction.facts import Facts
from service.extraction.phrases import addressed, asks, fold, is_titled, letters, own, phrases_of, size, table
from service.extraction.status import failure_of_status
from service.failures import BlockedBySite, Failure, PageNotFound, UpstreamError
from service.settings import Extraction

PROSE_CHARS = 80
"""Letters from which a line is prose, the evidence that a page is more than its notice."""

REST_CHARS = 800
"""Prose beside the notice from which the page is an article about it. The longest wall measured has 704 in all."""

BARE_CHARS = 60
"""Letters outside links, headings and the notice itself up to which a page is nothing but its notice."""

ALONE_SHARE = 0.4
"""Share of a sentence from which it says only the phrase: "This post has been deleted by its author." has .66."""

SILENT_CHARS = 30
"""Letters beneath a title up to which a page says nothing more: the name of a server, a link."""

MARKUP_CHARS = 700
"""Visible text up to which challenge mark-up makes a page a challenge; pages that load such a script have more."""

MARKUP_SOURCE_CHARS = 200_000
"""Longest source that is searched for challenge mark-up; the largest challenge measured has 23,487 bytes."""

WEAK_PROSE_CHARS = 60
"""Letters of a line from which a page has prose, and a captcha on it is some form's."""

ENOUGH = 2
"""Balance of evidence from which a phrase is the page's own: one strong sign, or two weak ones."""

MAX_CHARS = 100_000
"""Characters of a short page's text, letters or not: an obfuscated script of a challenge has 23,000."""

HEADINGS = 24
"""Headings that are looked at; no wall measured has more than five."""

_PARTS = re.compile(r"\s+[|–—·:-]\s+|\s*[|｜:：]\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")
_VOWEL = re.compile(r"[AEIO]|[FHLMNRSX](?![a-z])")  # the first letter as it is spoken: "an F5 challenge"
_ADDRESS = re.compile(r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:[/?#]\S*)?", re.I)
_ARTICLES = ("Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle", "Recipe", "Product")
_LESSONS = ("FAQPage", "HowTo", "QAPage", "Question")
_NAMED = frozenset(("description", "og:description", "og:image", "og:url"))


@cache
def _markup(section: str) -> list[tuple[str, re.Pattern[str]]]:
    return [(vendor, re.compile("|".join(patterns))) for vendor, patterns in table()[section].items()]


def _is_short(root: HtmlElement, most: int) -> bool:
    """Whether the visible text has at most so many letters: an obfuscated script, shown as text, is no prose."""
    total = chars = 0
    for text in root.itertext():
        if not text.isspace():
            chars += len(text)
            total += letters(text) if chars <= MAX_CHARS else most + 1
            if total > most:
                return False
    return True


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
    total = sum(map(letters, shape.lines))
    if total <= MARKUP_CHARS and len(html) <= MARKUP_SOURCE_CHARS and (vendor := _challenge(shape)):
        article = "an" if _VOWEL.match(vendor) else "a"
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
# What each kind of wall is to a caller, in the order in which they are looked for.


def _challenge(shape: _Shape) -> str | None:
    """The vendor whose challenge a page is by its mark-up, unless the page shows that mark-up as its text."""
    plain = all(size(line) < WEAK_PROSE_CHARS for line in shape.lines)
    # What honest pages load too: a challenge says nothing, and describes itself to nobody.
    empty = plain and _NAMED.isdisjoint(shape.facts.meta)
    for section in ("markup", *(("weak_markup",) if plain else ()), *(("loaded",) if empty else ())):
        for vendor, pattern in _markup(section):
            match = pattern.search(shape.source)
            if match is not None and (section == "weak_markup" or match.group(0) not in shape.text):
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
    def text(self) -> str:
        return "\n".join(map(fold, self.lines))

    @cached_property
    def source(self) -> str:
        return self.html[:MARKUP_SOURCE_CHARS].lower()

    @cached_property
    def headings(self) -> list[str]:
        found = (fold(text_of(heading)) for heading in islice(self.root.iter("h1", "h2", "h3", "h4"), HEADINGS))
        return [text for text in found if text]

    @cached_property
    def names(self) -> list[str]:
        """The parts of the title that do not name the site; none of a title that is but an address."""
        title = fold(self.facts.title)
        # Links to the front page are called, as a rule, by the site's name.
        home = (text for href, text in self.links if href in ("/", "./", ""))
        sites = {fold(self.facts.meta.get("og:site_name", "")), *home}
        parts = [] if _ADDRESS.fullmatch(title) else [part.strip(" .!…") for part in _PARTS.split(title)]
        return [part for part in parts if part and part not in sites and not _ADDRESS.fullmatch(part)]

    @cached_property
    def links(self) -> list[tuple[str | None, str]]:
        """Where links lead and what they say; of one inside another, the outer."""
        found = []
        walk = etree.iterwalk(self.root, events=("start",), tag="a")
        for _, link in walk:
            found.append((link.get("href"), fold(text_of(link))))
            walk.skip_subtree()
        return found

    def evidence(self, kind: str) -> str | None:
        """The phrase that makes the page a wall of that kind; None when it is none."""
        within = phrases_of(kind).within(self.text)
        titled = next(self._titled(kind), None)
        if not within and titled is None:
            return None
        rest = besides = 0
        found: list[str] = []
        said: list[str] = []
        for line in self.lines:
            before = len(said)
            for sentence in map(fold, _SENTENCE.split(line)):
                phrase = next(own(sentence, within), None)
                if phrase is not None:
                    found.append(phrase)
                    said.append(sentence)
                elif sentence not in self.headings:
                    besides += size(sentence)
            if len(said) == before and (chars := size(line)) >= PROSE_CHARS:
                rest += chars
        if rest >= REST_CHARS:
            return None
        if not found:
            # A title alone proves nothing: an article may be called so. With a word of its kind, and no prose, it does.
            if titled is None or rest >= PROSE_CHARS * 3 or not self._speaks_of(kind):
                return None
            found = [titled]
        bare = besides - sum(size(text) for _, text in self.links) <= BARE_CHARS
        return found[0] if self.balance(kind, found, said, rest, titled is not None, bare) >= ENOUGH else None

    def balance(self, kind: str, found: list[str], said: list[str], rest: int, titled: bool, bare: bool) -> int:
        """What speaks for a wall less what speaks against it; strong signs weigh two, weak ones one.

        Strong: the title or a heading is the phrase; the origin refuses; a form or a class that only such a page
        has; a page that is nothing but the phrase. Weak: more than one phrase; words to the reader; hardly any
        other text; hidden from search engines; a title that is but an address. Against: a title of its own, the
        more so as a heading too; the declaration of an article or a lesson; questions as headings; prose.
        What nothing strong speaks for is no wall under a title of its own.
        """
        phrases = phrases_of(kind)
        formed = phrases.forms is not None and phrases.forms.search(self.source) is not None
        alone = bool(said) and bare and sum(map(size, found)) >= sum(map(size, said)) * ALONE_SHARE
        strong = titled + formed + alone + (self.status >= 400)
        named = 0 if titled else bool(self.names) + any(name in self.headings for name in self.names)
        if named and not strong:
            return 0
        noindex = "noindex" in self.facts.meta.get("robots", "").lower()
        spoken = any(addressed().search(sentence) for sentence in said or [self.text])
        weak = (len(set(found)) > 1) + spoken + bare + noindex + (bool(self.facts.title) and not self.names)
        declared = any(self.facts.of_type(*_ARTICLES)) or self.facts.meta.get("og:type") == "article"
        lesson = any(self.facts.of_type(*_LESSONS))
        questions = any(asks(text) and not phrases.within(text) for text in self.headings)
        against = named + declared + 2 * lesson + questions + (rest >= REST_CHARS / 4) + (rest >= REST_CHARS / 2)
        return 2 * strong + weak - against

    def _titled(self, kind: str) -> Iterator[str]:
        """Parts of the title, and the first headings, that are such a phrase."""
        phrases = phrases_of(kind)
        for text in (*self.names, *self.headings[:2]):
            if phrases.titles is not None and is_titled(text, phrases.titles):
                yield text
            phrase = next(own(text, phrases.within(text)), None)
            if phrase is not None and size(phrase) * 3 >= size(text):
                yield phrase

    def _speaks_of(self, kind: str) -> bool:
        """Whether the text, its title's copies left out, uses a word of such pages; a page without text does."""
        title = fold(self.facts.title)
        text = " ".join(line for line in self.text.split("\n") if line not in title)
        return size(text) <= SILENT_CHARS or any(word in text for word in phrases_of(kind).words)
