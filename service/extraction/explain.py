"""Why this body: the candidates with their scores, and every block with what spoke for and against it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from lxml.etree import _Element as HtmlElement

from service.extraction import weights as models
from service.extraction.choice import Choice
from service.extraction.density import counts_of
from service.page import Block, Candidate, Evidence

SHOWN = 20
"""Candidates reported; the rest score too little to matter."""

REASONS = 5
"""Features reported of each block, those that weigh most."""

TEXT_CHARS = 80
"""Characters reported of each block."""


def candidates(choice: Choice) -> tuple[Candidate, ...]:
    """The best candidates as rows for a person, the winner first."""
    rows = []
    for position, (points, number) in enumerate(choice.ranked[:SHOWN]):
        counts = counts_of(choice.blocks, number)
        rows.append(
            Candidate(
                element=_name(choice.blocks.elements[number]),
                chars=counts.chars,
                p_share=round(counts.p_share, 3),
                link_share=round(counts.link_share, 3),
                score=round(points, 1),
                won=position == 0,
            )
        )
    return tuple(rows)


def judged(choice: Choice, folder: Path | None) -> tuple[Block, ...]:
    """Every block of a page in document order, with the evidence that weighed most by the weights in `folder`."""
    if not choice.ranked:
        return ()
    judge = models.blocks(folder)
    weights = judge.contributions(choice.rows)
    weights[:, (choice.rows == choice.rows[:1]).all(axis=0)] = 0  # what is said of the page tells no block from another
    blocks = choice.blocks
    found = []
    for number, text in enumerate(blocks.texts):
        strongest = np.argsort(-np.abs(weights[number]), kind="stable")[:REASONS]
        found.append(
            Block(
                text=" ".join(text.split())[:TEXT_CHARS],
                element=_name(blocks.elements[blocks.home[number]]),
                likely=round(float(choice.likely[number]), 3),
                kept=bool(choice.kept[number]),
                rule=choice.rules.get(number),
                evidence=tuple(
                    Evidence(
                        judge.names[i], round(float(choice.rows[number, i]), 3), round(float(weights[number, i]), 3)
                    )
                    for i in strongest.tolist()
                    if weights[number, i]
                ),
            )
        )
    return tuple(found)


def _name(element: HtmlElement) -> str:
    """An element as a short CSS selector: `div#main.story`."""
    name = str(element.tag)
    if element.get("id"):
        name += f"#{element.get('id')}"
    return name + "".join(f".{part}" for part in (element.get("class") or "").split()[:2])
