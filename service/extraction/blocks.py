"""From the winner to the body: join what belongs to it, drop what stands inside it and is not body.

The winner fixes where the body is. Link lists, page chrome and hinted asides are pruned only here,
inside it: pruned earlier they would change who wins.
"""

from __future__ import annotations

import re

from lxml.etree import _Element as HtmlElement

from service.extraction.density import Measures, score
from service.extraction.dom import BLOCK, drop, text_of
from service.extraction.hints import ASIDE, CHROME_ROLES, CHROME_TAGS, has_hint
from service.settings import Extraction

SIBLING_SCORE = 0.25
"""Share of the winner's score from which a sibling of like build is another part of the body."""

LIST_LINK_SHARE = 0.6
"""Share of link text from which a block with several links is a list of links."""

HINTED_LINK_SHARE = 0.25
"""The same for a block whose name hints that it is no body."""

HINTED_CHARS = 250
"""Length up to which a hinted block without a paragraph is page furniture (share bars, bylines)."""

MOST = 0.5
"""Share of the body from which a block is the body, whatever its name or tag says."""

DATELINE_CHARS = 48
"""Longest block that is looked at as a date line: a label, a date, a time."""

_DATELINE = re.compile(
    r"^\W*(?:[^\W\d]{1,12}[\s:]*){0,2}"
    r"(?:\d{4}\s*[-./年년]\s*\d{1,2}\s*[-./月월]\s*\d{1,2}\s*[日일]?"
    r"|[^\W\d]{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.? [^\W\d]{3,9}\.? \d{4})"
    r"[\s.,T]*(?:\(?[^\W\d]{1,3}\)?\s*)?(?:\d{1,2}\s*[:時시]\s*\d{1,2}\s*[分분]?(?::\d{2})?\s*[^\W\d]{0,4})?\W*$"
)

TEASER_CHARS = 450
"""Longest teaser: a short block whose heading is a link. The measured news page has 23 of at most 345 characters."""

TEASERS = 3
"""Teasers side by side from which they are a list of other pages."""

PROSE_CHARS = 1000
"""Characters that must stand outside teasers; without them the teasers are the body of an index page."""

LEAST_KEPT = 0.2
"""Share of a part that must remain after pruning; with less, its lists of links are the body, as on an index page."""

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def assemble(winner: HtmlElement, measures: Measures, weights: Extraction) -> list[HtmlElement]:
    """The elements that hold the body, in document order, with what is not body removed from them."""
    parts = _with_siblings(winner, measures, weights)
    total = sum(measures[part].chars for part in parts)
    for part in parts:
        _prune(part, measures, total)
    return parts


def _with_siblings(winner: HtmlElement, measures: Measures, weights: Extraction) -> list[HtmlElement]:
    parent = winner.getparent()
    if parent is None or winner.tag == "body":
        return [winner]
    least = SIBLING_SCORE * score(measures[winner], weights)
    return [
        element
        for element in parent
        if element is winner
        or (
            element.tag == winner.tag
            and score(measures[element], weights) >= least
            and measures[element].link_share < HINTED_LINK_SHARE
            and measures[element].p_share > 0.5
            and not has_hint(element, ASIDE)
        )
    ]


def _prune(part: HtmlElement, measures: Measures, total: int) -> None:
    teasers = set(_teaser_groups(part, measures))
    doomed: list[HtmlElement] = []
    stack = list(reversed(part))
    while stack:
        element = stack.pop()
        counts = measures.get(element)
        if counts is None or element.tag not in BLOCK:
            continue
        if element in teasers or (counts.chars < MOST * total and _is_beside(element, measures)):
            doomed.append(element)
        else:
            stack.extend(reversed(element))
    kept = measures[part].chars - sum(measures[element].chars for element in doomed)
    if kept < LEAST_KEPT * measures[part].chars:
        return
    for element in doomed:
        drop(element)


def _teaser_groups(part: HtmlElement, measures: Measures) -> list[HtmlElement]:
    """Teasers that stand in groups, where enough text stands outside them."""
    teasers: dict[HtmlElement, list[HtmlElement]] = {}
    for element in part.iter("article", "li", "div", "section"):
        parent = element.getparent()
        if element is not part and 0 < measures[element].chars <= TEASER_CHARS and _is_teaser(element):
            teasers.setdefault(parent, []).append(element)
    found: list[HtmlElement] = []
    for parent, group in teasers.items():
        if len(group) >= TEASERS:
            held = sum(measures[element].chars for element in group)
            found.extend([parent] if parent is not part and held > 0.8 * measures[parent].chars else group)
    outside = measures[part].chars - sum(measures[element].chars for element in found)
    return found if outside >= PROSE_CHARS else []


def _is_teaser(element: HtmlElement) -> bool:
    """Whether a block has one heading and that heading is, or stands in, a link."""
    headings = list(element.iter(*_HEADINGS))
    if len(headings) != 1:
        return False
    inside = next(headings[0].iter("a"), None)
    return inside is not None or any(ancestor.tag == "a" for ancestor in headings[0].iterancestors())


def _is_beside(element: HtmlElement, measures: Measures) -> bool:
    """Whether a block inside the winner is no part of the body."""
    counts = measures[element]
    tag, share = element.tag, counts.link_share
    if counts.chars <= DATELINE_CHARS and tag in ("p", "div", "section") and _DATELINE.match(text_of(element)):
        return True
    if tag in CHROME_TAGS or element.get("role") in CHROME_ROLES:
        return True
    if tag == "header":
        return _is_page_header(element, share)
    if tag in _HEADINGS or tag in ("p", "td", "tr", "tbody", "thead", "li", "dd", "dt", "pre", "figcaption"):
        return False
    if not counts.chars:
        return False
    if counts.links >= 2 and share > LIST_LINK_SHARE:
        return not _is_introduced(element) and next(element.iter("th"), None) is None
    if has_hint(element, ASIDE):
        return share > HINTED_LINK_SHARE or (counts.chars < HINTED_CHARS and counts.p_share < 0.5)
    return False


def _is_page_header(header: HtmlElement, link_share: float) -> bool:
    """Whether a `<header>` is the page's and not an article's own, which holds its title and standfirst."""
    if any(ancestor.tag == "article" for ancestor in header.iterancestors()):
        return False
    return link_share > HINTED_LINK_SHARE or next(header.iter("nav"), None) is not None


def _is_introduced(block: HtmlElement) -> bool:
    """Whether the line before a block ends in a colon: then the prose itself brings the links."""
    before = block.getprevious()
    text = "".join(before.itertext()) if before is not None and before.tag == "p" else ""
    return text.rstrip().endswith((":", "："))
