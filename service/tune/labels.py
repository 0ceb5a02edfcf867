"""How much of each block is body, from a page's known body or from snippets of it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

RUN = 3
"""Words in a row that must agree before a part of a block counts as found; fewer agree by chance."""

SHINGLE = 4
"""Words of the shingles by which a block is found that stands in another place than in the body."""

SHINGLED = 2 * SHINGLE
"""Words from which a block is looked for by its shingles."""

MOST_CELLS = 4_000_000_000
"""Words of page × words of body up to which the two are aligned (bit-parallel: 0.5 GB at most)."""

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")


def words(text: str) -> list[str]:
    """Lower-case words; a word in a script without spaces is its letters."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        found.extend(_UNSPACED.findall(word) if _UNSPACED.search(word) else [word])
    return found


def by_body(texts: list[str], body: str | None) -> NDArray[np.float64]:
    """Share of each block's words that are in the body, 0 to 1: aligned in order, or by shingles out of order."""
    split = [words(text) for text in texts]
    true = words(body or "")
    result = np.zeros(len(texts))
    if not true:
        return result
    hit = _aligned([word for block in split for word in block], true)
    shingles = set(zip(*(true[start:] for start in range(SHINGLE)), strict=False))
    start = 0
    for number, block in enumerate(split):
        if not block:
            continue
        found = hit[start : start + len(block)]
        start += len(block)
        result[number] = 1.0 if found.all() else _runs(found) / len(block)
        if len(block) >= SHINGLED:
            result[number] = max(result[number], _shingled(block, shingles))
    return result


def by_snippets(texts: list[str], truth: dict[str, Any]) -> NDArray[np.float64]:
    """1 for blocks that hold a snippet that must be present, 0 for an absent one, NaN for the others."""
    result = np.full(len(texts), np.nan)
    folded = [" ".join(text.split()) for text in texts]
    for key, value in (("absent", 0.0), ("present", 1.0)):
        for snippet in truth.get(key) or ():
            wanted = " ".join(snippet.split())
            for number, text in enumerate(folded):
                if wanted in text:
                    result[number] = value
    return result


def _aligned(page: list[str], true: list[str]) -> NDArray[np.bool_]:
    hit = np.zeros(len(page), bool)
    if len(page) * len(true) <= MOST_CELLS:
        for step in Indel.opcodes(page, true):
            if step.tag == "equal":
                hit[step.src_start : step.src_end] = True
    return hit


def _runs(found: NDArray[np.bool_]) -> int:
    total = run = 0
    for is_hit in (*found, False):
        if is_hit:
            run += 1
            continue
        total += run if run >= RUN else 0
        run = 0
    return total


def _shingled(block: list[str], shingles: set[tuple[str, ...]]) -> float:
    covered = np.zeros(len(block), bool)
    for start in range(len(block) - SHINGLE + 1):
        if tuple(block[start : start + SHINGLE]) in shingles:
            covered[start : start + SHINGLE] = True
    return float(covered.mean())
