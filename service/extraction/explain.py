"""Why this element won: the candidates with their counts, shares and scores."""

from __future__ import annotations

from lxml.etree import _Element as HtmlElement

from service.extraction.density import Measures
from service.page import Candidate

SHOWN = 20
"""Candidates reported; the rest score too little to matter."""


def candidates(ranked: list[tuple[float, HtmlElement]], measures: Measures) -> tuple[Candidate, ...]:
    """The best candidates as rows for a person, the winner first."""
    return tuple(
        Candidate(
            element=_name(element),
            chars=measures[element].chars,
            p_share=round(measures[element].p_share, 3),
            link_share=round(measures[element].link_share, 3),
            score=round(points, 1),
            won=position == 0,
        )
        for position, (points, element) in enumerate(ranked[:SHOWN])
    )


def _name(element: HtmlElement) -> str:
    """An element as a short CSS selector: `div#main.story`."""
    name = str(element.tag)
    if element.get("id"):
        name += f"#{element.get('id')}"
    return name + "".join(f".{part}" for part in (element.get("class") or "").split()[:2])
