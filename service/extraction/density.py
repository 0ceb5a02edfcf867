"""Score the candidates, name the winner: the anchor of the body.

The score is `chars × (p_floor + p_weight × p_share) × max(0, 1 − link_discount × link_share)`: length
is the dominant term, paragraphs weigh it up, links discount it. After Boilerpipe's text and link
density (Kohlschütter et al., WSDM 2010), over elements instead of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.extraction.segment import Blocks, Floats, share
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


def scores(chars: Floats, p_chars: Floats, link_chars: Floats, weights: Extraction) -> Floats:
    """The score of each candidate; never negative, never over its characters when the weights sum to 1."""
    paragraphs = weights.p_floor + weights.p_weight * share(p_chars, chars)
    result: Floats = chars * paragraphs * np.maximum(0.0, 1 - weights.link_discount * share(link_chars, chars))
    return result


def rank(blocks: Blocks, weights: Extraction, apart: NDArray[np.bool_]) -> list[tuple[float, int]]:
    """(score, preorder number) of the candidates that hold text, best first; of equal ones the outer one.

    The text of the blocks in `apart` does not count: nothing of it may win.
    """
    chars = blocks.inside(np.where(apart, 0, blocks.chars))
    p_chars = blocks.inside(np.where(apart, 0, blocks.p_chars))
    link_chars = blocks.inside(np.where(apart, 0, blocks.link_chars))
    found = scores(chars, p_chars, link_chars, weights)
    numbers = [i for i, tag in enumerate(blocks.tags) if tag in CANDIDATES and chars[i]]
    if len(blocks) and 2 * _outside(blocks) > chars[0]:
        numbers.append(0)
    return sorted(((float(found[i]), i) for i in numbers), key=lambda row: -row[0])


def counts_of(blocks: Blocks, element: int) -> Counts:
    """What one element holds, by its preorder number."""
    held = slice(int(blocks.first[element]), int(blocks.last[element]))
    sums = (int(values[held].sum()) for values in (blocks.chars, blocks.p_chars, blocks.link_chars, blocks.links))
    return Counts(*sums)


def _outside(blocks: Blocks) -> int:
    """Visible characters that no candidate holds (a lone table cell is none here): a flat document's text."""
    held = np.asarray([i for i, tag in enumerate(blocks.tags) if tag in CANDIDATES and tag != "td"], np.int64)
    edges = np.bincount(blocks.first[held], minlength=len(blocks) + 1)
    edges -= np.bincount(blocks.last[held], minlength=len(blocks) + 1)
    return int(blocks.chars[np.cumsum(edges)[:-1] == 0].sum())
