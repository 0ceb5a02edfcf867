"""How well fitted models do on pages of sites that they were not fitted to."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.extraction import kind
from service.extraction.choice import best_set
from service.tune.corpus import Example
from service.tune.labels import words


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of unseen sites, by corpus and the pages' kind.

    `f1` is the mean over pages of the word F1 of the best set, before the rules of `company`; `spread` its standard
    deviation between folds; `agreement` the share of pages whose kind is named right (`page` is right for a
    feed, too). With numbers of pages.
    """

    f1: dict[str, dict[str, tuple[float, int]]]
    spread: dict[str, float]
    agreement: dict[str, dict[str, tuple[float, int]]]

    def as_dict(self) -> dict[str, Any]:
        """The figures, rounded, without numbers of pages."""
        return {
            "f1": {c: {k: round(v, 4) for k, (v, _) in kinds.items()} for c, kinds in self.f1.items()},
            "f1_spread_between_folds": {c: round(v, 4) for c, v in self.spread.items()},
            "kind_agreement": {
                c: {k: round(v, 4) for k, (v, _) in kinds.items()} for c, kinds in self.agreement.items()
            },
        }


def report(
    examples: list[Example], told: dict[int, dict[str, float]], likely: dict[int, NDArray[np.float64]], folds: int
) -> Report:
    """The figures for what was said of unseen pages, by their `id`: of their kinds (`told`) and blocks (`likely`)."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    agreed: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    by_fold: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for e in examples:
        for name in ("all", e.kind) if e.kind else ():
            right, named = kind.AS.get(e.kind or "", "page"), kind.decided(e.declared, told[id(e)], e.counts)
            agreed[e.corpus][name].append(float(named == right or (named, right) == ("page", "feed")))
        if "body" in e.truth:
            f1 = _f1(e, best_set(likely[id(e)], e.words)[0])
            for name in ("all", e.kind or "-"):
                found[e.corpus][name].append(f1)
            by_fold[e.corpus][e.fold(folds)].append(f1)
    spread = {corpus: pstdev([mean(values) for values in parts.values()]) for corpus, parts in by_fold.items()}
    return Report(_means(found), spread, _means(agreed))


def _means(found: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, tuple[float, int]]]:
    return {c: {k: (mean(v), len(v)) for k, v in sorted(kinds.items())} for c, kinds in found.items()}


def _f1(e: Example, chosen: NDArray[np.bool_]) -> float:
    """Word F1 of a choice, the share of a block's words taken for the words it has in common with the body."""
    true = len(words(e.truth["body"] or ""))
    kept = float(e.words[chosen].sum())
    if not true or not kept:
        return float(not true and not kept)
    hits = min(float((e.share * e.words)[chosen].sum()), true)  # a text said twice is in the body once
    return 2 * hits / (true + kept)
