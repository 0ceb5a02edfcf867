"""The choice of the body: what kind of page it is, how likely each block is body, and which set of blocks to keep."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.extraction import company, kind, weights
from service.extraction.comments import in_comments
from service.extraction.density import counts_of, rank
from service.extraction.evidence import Evidence, Marks, Subject, gather, marks_of, names_of, said_by
from service.extraction.facts import Facts
from service.extraction.segment import Blocks, Floats
from service.extraction.traits import traits_of
from service.page import Kind
from service.settings import Extraction

HOPELESS = 0.25
"""Expected F1 under which a page has no body. By cross-validation 6 of wcxb's 17 pages with text and no body are under
it, and of the others five, four of which do not have their body in their text."""

ENOUGH_CHARS = 500
"""Visible characters from which the model's doubt counts; under it a page's text is its body, or a notice names it."""

UNLIKELY = 0.05
"""Probability under which a block is no body even on a page that has hardly any text."""


@dataclass(slots=True, eq=False)
class Choice:
    """A page in blocks, and how each was judged.

    `ranked` are the (score, preorder number) of the candidates of the density formula, best first; `rows` the
    features of the blocks; `likely` what the model says of each, `rules` what overruled it, `kept` what is body in the
    end.
    """

    blocks: Blocks
    ranked: list[tuple[float, int]]
    kind: Kind | None
    rows: NDArray[np.float32]
    likely: Floats
    rules: company.Rules
    kept: NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Gathered:
    """All evidence of a page, before any model has seen it."""

    blocks: Blocks
    comments: NDArray[np.bool_]
    ranked: list[tuple[float, int]]
    evidence: Evidence
    marks: Marks
    traits: dict[str, float]


def gathered(
    blocks: Blocks, facts: Facts, url: str | None, declared: Kind | None, settings: Extraction, wanted: Container[str]
) -> Gathered:
    """The evidence of a page; `declared` is the kind it declares, `wanted` the names of words to look for."""
    comments = in_comments(blocks)
    ranked = rank(blocks, settings, comments & (declared != "forum"))
    if not ranked:
        return Gathered(blocks, comments, ranked, Evidence(len(blocks)), Marks.of([], []), {})
    names, spoken = names_of(blocks), said_by(blocks)
    found = gather(blocks, ranked[0][1], Subject.of(facts), comments, names, spoken)
    marks = marks_of(blocks, names, spoken, wanted)
    traits = traits_of(blocks, found, names, spoken, facts, url, declared)
    return Gathered(blocks, comments, ranked, found, marks, traits)


def choose(blocks: Blocks, facts: Facts, url: str | None, declared: Kind | None, settings: Extraction) -> Choice:
    """Judge every block of a page and keep the best set of them."""
    judge = weights.blocks(settings.weights)
    found = gathered(blocks, facts, url, declared, settings, judge.wanted)
    if not found.ranked:
        none = np.zeros(len(blocks), bool)
        return Choice(blocks, [], declared, np.zeros((len(blocks), 0), np.float32), none.astype(float), {}, none)
    kinds = kind.probabilities(weights.kinds(settings.weights), found.traits)
    kind.tell(found.evidence, kinds)
    rows = found.evidence.rows(found.marks, judge.names)
    likely: Floats = 1 / (1 + np.exp(-judge(rows)[:, 0]))
    decided = kind.decided(declared, kinds, counts_of(blocks, 0))
    rules = company.others(blocks, likely, found.comments, decided)
    possible = likely.copy()
    possible[list(rules)] = 0
    best, expected = best_set(possible, blocks.words)
    if expected < HOPELESS and blocks.chars.sum() >= ENOUGH_CHARS:
        return Choice(blocks, found.ranked, decided, rows, likely, rules, np.zeros(len(blocks), bool))
    kept = company.joined(blocks, best, possible, decided, rules)
    is_thin, is_short = blocks.chars.sum() < ENOUGH_CHARS, blocks.chars[kept].sum() < settings.min_body_chars
    if is_thin or is_short:  # a short page's heading is part of what little it says
        winner = found.ranked[0][1]
        held = slice(int(blocks.first[winner]), int(blocks.last[winner]))
        kept[held] |= possible[held] > (0 if is_thin and is_short else UNLIKELY)
    return Choice(blocks, found.ranked, decided, rows, likely, rules, kept)


def best_set(likely: Floats, words: NDArray[np.int64]) -> tuple[NDArray[np.bool_], float]:
    """The set of blocks with the best expected F1 over words, and that F1.

    For independent blocks it is a prefix of the blocks by falling probability (Lewis, SIGIR 1995); the
    expectation of F1 is taken as 2 × expected hits ÷ (words kept + expected words of the body).
    """
    size = np.maximum(1, words)
    order = np.argsort(-likely, kind="stable")
    hits = np.cumsum((likely * size)[order])
    expected = 2 * hits / (np.cumsum(size[order]) + hits[-1] if len(hits) else 1)
    chosen = np.zeros(len(likely), bool)
    if not len(likely):
        return chosen, 0.0
    chosen[order[: int(expected.argmax()) + 1]] = True
    return chosen, float(expected.max())
