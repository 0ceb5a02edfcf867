"""Measure every node once, score the candidates, name the winner.

The score is `chars × (p_floor + p_weight × p_share) × max(0, 1 − link_discount × link_share)`: length
is the dominant term, paragraphs weigh it up, links discount it. After Boilerpipe's text and link
density (Kohlschütter et al., WSDM 2010), over elements instead of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from lxml.etree import _Element as HtmlElement

from service.settings import Extraction

CANDIDATES = frozenset(("article", "main", "section", "div", "td"))
"""Elements that may be the body; `<body>` itself only where most of its text is in none of them."""


@dataclass(slots=True)
class Counts:
    """Visible characters of an element: all, those inside `<p>`, those inside `<a href>`, and its links."""

    chars: int = 0
    p_chars: int = 0
    link_chars: int = 0
    links: int = 0

    @property
    def p_share(self) -> float:
        """Share of the characters inside `<p>`, 0 to 1."""
        return self.p_chars / self.chars if self.chars else 0.0

    @property
    def link_share(self) -> float:
        """Share of the characters inside links, 0 to 1."""
        return self.link_chars / self.chars if self.chars else 0.0


Measures = dict[HtmlElement, Counts]


def measure(root: HtmlElement) -> Measures:
    """Counts of every element under `root`, by one rule in one traversal, in time linear in the nodes.

    A visible character is one that is no white space, so that indentation weighs nothing and scripts
    without spaces weigh the same as others.
    """
    counts: Measures = {}
    inside: dict[HtmlElement, tuple[bool, bool]] = {}
    order: list[HtmlElement] = []
    for element in root.iter():
        parent = element.getparent() if element is not root else None
        in_p, in_link = inside[parent] if parent is not None else (False, False)
        tag = element.tag
        if tag == "p":
            in_p = True
        own = counts[element] = Counts()
        if tag == "a" and element.get("href") is not None:
            in_link = True
            own.links = 1
        inside[element] = (in_p, in_link)
        order.append(element)
        _add(own, element.text, in_p, in_link)
        if parent is not None:
            _add(counts[parent], element.tail, *inside[parent])
    for element in reversed(order):
        parent = element.getparent() if element is not root else None
        if parent is not None:
            own, outer = counts[element], counts[parent]
            outer.chars += own.chars
            outer.p_chars += own.p_chars
            outer.link_chars += own.link_chars
            outer.links += own.links
    return counts


def _add(counts: Counts, text: str | None, in_p: bool, in_link: bool) -> None:
    if not text:
        return
    chars = sum(map(len, text.split()))
    counts.chars += chars
    if in_p:
        counts.p_chars += chars
    if in_link:
        counts.link_chars += chars


def score(counts: Counts, weights: Extraction) -> float:
    """The score of one candidate; never negative, never over its characters when the weights sum to 1."""
    paragraphs = weights.p_floor + weights.p_weight * counts.p_share
    return counts.chars * paragraphs * max(0.0, 1 - weights.link_discount * counts.link_share)


def rank(root: HtmlElement, measures: Measures, weights: Extraction) -> list[tuple[float, HtmlElement]]:
    """Candidates that hold text, best first; of equal scores the one earlier in the document (the outer one)."""
    scored = [
        (score(counts, weights), element)
        for element, counts in measures.items()
        if element.tag in CANDIDATES and counts.chars
    ]
    body = root.find("body")
    if body is not None and 2 * _outside(body, measures) > measures[body].chars:
        scored.append((score(measures[body], weights), body))
    return sorted(scored, key=lambda row: -row[0])


def _outside(body: HtmlElement, measures: Measures) -> int:
    """Visible characters of `<body>` that no candidate holds: a flat document's text."""
    held, stack = 0, list(body)
    while stack:
        element = stack.pop()
        if element.tag in CANDIDATES and element.tag != "td":
            held += measures[element].chars
        else:
            stack.extend(element)
    return measures[body].chars - held
