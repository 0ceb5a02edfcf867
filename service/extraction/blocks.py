"""From the winner to the body: join what belongs to it, drop what stands inside it and is not body.

The winner fixes where the body is. Link lists, page chrome and hinted asides are pruned only here,
inside it: pruned earlier they would change who wins.
"""

from __future__ import annotations

from lxml.html import HtmlElement

from service.extraction.density import Measures, score
from service.extraction.dom import BLOCK, drop
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
        or element.tag == winner.tag
        and score(measures[element], weights) >= least
        and measures[element].link_share < HINTED_LINK_SHARE
        and measures[element].p_share > 0.5
        and not has_hint(element, ASIDE)
    ]


def _prune(part: HtmlElement, measures: Measures, total: int) -> None:
    stack = list(reversed(part))
    while stack:
        element = stack.pop()
        counts = measures.get(element)
        if counts is None or element.tag not in BLOCK:
            continue
        if counts.chars < MOST * total and _is_beside(element, measures):
            drop(element)
        else:
            stack.extend(reversed(element))


def _is_beside(element: HtmlElement, measures: Measures) -> bool:
    """Whether a block inside the winner is no part of the body."""
    counts = measures[element]
    tag = element.tag
    if tag in CHROME_TAGS or element.get("role") in CHROME_ROLES:
        return True
    if tag in _HEADINGS or tag in ("p", "td", "tr", "tbody", "thead", "li", "dd", "dt", "pre", "figcaption"):
        return False
    if not counts.chars:
        return False
    share = counts.link_share
    if counts.links >= 2 and share > LIST_LINK_SHARE:
        return True
    if has_hint(element, ASIDE):
        return share > HINTED_LINK_SHARE or counts.chars < HINTED_CHARS and counts.p_share < 0.5
    return False
