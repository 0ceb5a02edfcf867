"""Labelled pages: what is read from a corpus folder, and each page as rows with their labels."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from service.extraction import evidence
from service.extraction.choice import gathered
from service.extraction.decode import decode
from service.extraction.density import Counts, counts_of
from service.extraction.dom import parse
from service.extraction.facts import read as read_facts
from service.extraction.kind import AS, declared_kind
from service.extraction.noise import prune
from service.extraction.segment import cut
from service.extraction.streamed import put_in_place
from service.page import Kind
from service.settings import Settings
from service.tune.labels import by_body, by_snippets, words

MOST_BLOCKS = 600
"""Blocks of one page that are learned from; of a longer page a sample, weighing as much as all."""


class CorpusError(ValueError):
    """A folder that is no corpus; the message names the folder and the line."""


@dataclass(slots=True, eq=False)
class Example:
    """One labelled page: features, the share of each block that is body (NaN: unknown), counts, declaration, truth."""

    corpus: str
    page: str
    site: str
    gathered: evidence.Evidence
    marks: evidence.Marks
    traits: dict[str, float]
    share: NDArray[np.float64]
    words: NDArray[np.int64]
    counts: Counts
    declared: Kind | None
    truth: dict[str, Any]

    @property
    def kind(self) -> str | None:
        """The page's labelled kind; None where its corpus labels no bodies, and so little else."""
        return self.truth.get("kind") if "body" in self.truth else None

    @property
    def found(self) -> float:
        """Share of the body's words that are in the page's text; 1 where its corpus gives no body, or an empty one."""
        size = len(words(self.truth.get("body") or ""))
        return float((self.share * self.words).sum()) / size if size else 1.0

    def fold(self, folds: int) -> int:
        """Which fold a page is in: all pages of a site in the same, whatever else is in the corpus."""
        return int(hashlib.sha256(self.site.encode()).hexdigest(), 16) % folds

    def weights(self) -> NDArray[np.float64]:
        """What each block weighs: about its share in the page's F1, so that every page weighs like any other."""
        known = ~np.isnan(self.share)
        if "body" not in self.truth:
            return np.where(known, 0.5 / max(1, known.sum()), 0.0)
        size = np.maximum(1, self.words).astype(float)
        whole = max(len(words(self.truth["body"] or "")), 0.1 * size.sum(), 30)
        weighed: NDArray[np.float64] = (size / whole) ** 0.8
        return weighed


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


def read(folder: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The (truth, bytes) of every page of a corpus. Raises `CorpusError` where it is none, or a line is wrong."""
    number = 0
    try:
        with gzip.open(folder / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                number += 1
                truth = json.loads(line)
                if (wrong := _wrong(truth)) is not None:
                    raise ValueError(wrong)
                if "body" in truth or "present" in truth:
                    yield truth, gzip.decompress((folder / "pages" / f"{truth['id']}.html.gz").read_bytes())
    except FileNotFoundError as error:
        raise CorpusError(f"{folder} is no corpus: there is no {error.filename}") from error
    except (OSError, EOFError, ValueError) as error:
        where = f"line {number} of " if number else ""
        raise CorpusError(f"{folder} is no corpus: {where}truth.jsonl.gz: {error}") from error


def _wrong(truth: object) -> str | None:
    """What is wrong with a line, if anything. A line without `body` and `present` is of another kind, and skipped."""
    if not isinstance(truth, dict):
        return "not an object"
    if not isinstance(truth.get("id"), str):
        return "`id` is no string"
    for key in ("url", "kind", "body", "charset"):
        if not isinstance(truth.get(key), str | None):
            return f"`{key}` is no string"
    for key in ("present", "absent"):
        if not isinstance(value := truth.get(key, []), list) or not all(isinstance(item, str) for item in value):
            return f"`{key}` is no list of strings"
    if truth.get("kind") not in (None, "-", *AS):
        return f"`kind` is {truth['kind']!r}, not one of {', '.join(AS)}"
    try:
        urlsplit(truth.get("url") or "")
    except ValueError as error:
        return f"`url`: {error}"
    return None


def example(corpus: str, truth: dict[str, Any], body: bytes, settings: Settings) -> Example | None:
    """A page as the extractor sees it, labelled; None where it has no text at all."""
    charset = truth.get("charset")
    source = decode(body, f"text/html; charset={charset}" if charset else None).text
    root = parse(source, max_nodes=settings.limits.max_nodes, max_depth=settings.limits.max_depth)
    facts = read_facts(root)
    url = truth.get("url")
    put_in_place(root)
    prune(root)
    blocks = cut(root)
    declared = declared_kind(blocks, facts, url)
    found = gathered(blocks, facts, url, declared, settings.extraction, _Everything())
    if not found.ranked:
        return None
    texts = found.blocks.texts
    share = by_body(texts, truth["body"]) if "body" in truth else by_snippets(texts, truth)
    site = urlsplit(url or "").hostname or truth["id"]
    return Example(
        corpus=corpus,
        page=truth["id"],
        site=site,
        gathered=found.evidence,
        marks=found.marks,
        traits=found.traits,
        share=share,
        words=found.blocks.words,
        counts=counts_of(found.blocks, 0),
        declared=declared,
        truth=truth,
    )
