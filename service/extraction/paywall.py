"""Whether a body is but the teaser of a paywalled text, and what says so.

No sign decides alone. Publishers declare a text as not free and send all of it, or count its readers; open
pages offer subscriptions. What is declared, what stands behind the body and how long the body is must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from lxml import etree
from lxml.cssselect import CSSSelector, SelectorError
from lxml.etree import _Element as HtmlElement
from numpy.typing import NDArray

from service.extraction.dom import visible_chars
from service.extraction.facts import Facts, string
from service.extraction.phrases import fold, size

ENOUGH = 2
"""Signs from which a body is a teaser: a barrier, or a declaration and one more."""

SHORT_SIZE = 1_500
"""Letters up to which a body is as short as a teaser; on the boards those declared not free and whole have 2,400 up."""

LONG_SIZE = 4_000
"""Letters from which a body is no teaser, unless a barrier stands behind it."""

BARRIER_SIZE = 400
"""Letters up to which a block may be a barrier: longer ones are prose that speaks of one."""

BUTTON_SIZE = 40
"""Letters up to which a block may be a barrier's button."""

BEHIND = 6
"""Blocks behind the body in which a barrier is looked for: what follows further down is the page's."""

WITHIN = 2
"""Last blocks of the body in which one is looked for too: a barrier reads like prose."""

WHOLE_SHARE = 0.8
"""Share of the declared text from which a body is the whole."""

TEASER_SHARE = 0.6
"""Share of the declared text up to which a body is a part of it."""

DECLARED_SIZE = 1_000
"""Letters from which a declared text says how long the whole is; shorter ones are teasers themselves."""

LOCKED_SHARE = 0.5
"""Share of the body that an element declared as locked holds when it is there."""

MAX_SELECTORS = 8
"""Declared selectors that are tried."""

CHARS_A_LETTER = 8
"""Characters for each letter, at most, of a text that is judged by its letters: figures and signs count, too."""

# A stranger writes them: `p ~ p` takes 37 s on 5,000 paragraphs.
_SELECTOR = re.compile(r"(?=.{1,200}$)[a-zA-Z][\w-]*(?:[.#][\w-]+)*|(?:[.#][\w-]+)+")

TIERS = (
    "article:content_tier",
    "article:content-tier",
    "content_tier",
    "content-tier",
    "article.access",
    "article:access",
)
"""Meta names by which publishers tell the tier of a text; Facebook's Open Graph brought `article:content_tier`."""

LOCKED = frozenset(("locked", "paid", "premium", "subscriber", "subscribers", "subscription"))
"""Tiers that are closed to whoever does not pay; `metered` counts readers, and sends the text."""

_ELLIPSIS = re.compile(r"(?:…|\.\.\.|\. \. \.|⋯|……)[\])\"'”»]*\s*$")


@cache
def _barriers() -> re.Pattern[str]:
    data = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return re.compile("|".join(pattern for group in data["barrier"].values() for pattern in group))


def partial_evidence(root: HtmlElement, facts: Facts, texts: Sequence[str], kept: Sequence[bool]) -> tuple[str, ...]:
    """What says that the chosen body is only a part of its text; nothing when it is the whole, as far as can be told.

    `root` is the page after noise and before anything is taken out, `texts` are its blocks in order, `kept` those
    of the body. Never raises: a declaration that makes no sense is no sign.
    """
    chosen = [number for number, keep in enumerate(kept) if keep]
    if not chosen:
        return ()
    barrier = _barrier(texts, chosen)
    closed = _closed(facts)
    if barrier is None and closed is None:
        return ()

    body = [texts[number] for number in chosen]
    letters = sum(map(size, body))
    signs = [sign for sign in (closed, barrier) if sign is not None]
    weight = (closed is not None) + 2 * (barrier is not None)
    missing, present = _locked_parts(root, facts, letters)
    whole = _share_of_declared(facts, body, letters)
    ends = _ELLIPSIS.search(texts[_last(texts, chosen)]) is not None
    for found, sign in (
        (closed is not None and missing is not None, f"{missing}: nothing there"),
        (whole is not None and whole <= TEASER_SHARE, f"{whole or 0:.0%} of the declared text"),
        (ends, "ends in an ellipsis"),
        (closed is not None and letters < SHORT_SIZE, f"only {letters} letters"),
    ):
        if found:
            signs.append(sign)
            weight += 1
    weight -= 2 * (whole is not None and whole >= WHOLE_SHARE) + 2 * present
    # A long body is a text; only where its last words lead up to a barrier is it a long teaser.
    weight -= (letters >= LONG_SIZE) * (2 if barrier is None or not (closed or ends) else 0)
    return tuple(signs) if weight >= ENOUGH else ()


def _closed(facts: Facts) -> str | None:
    """How the page declares its text as not free."""
    for node in facts.nodes:
        if _is_false(node.get("isAccessibleForFree")):
            return "isAccessibleForFree: false"
    if any(True for _ in _parts(facts)):
        return "hasPart: isAccessibleForFree: false"
    for name in TIERS:
        tier = facts.meta.get(name, "").strip().lower()
        if tier in LOCKED:
            return f"{name}: {tier}"
    return None


def _is_false(value: Any) -> bool:
    """Whether a JSON-LD value is false, as publishers write it: false, "False", a schema.org address."""
    return value is False or (isinstance(value, str) and value.strip().lower().rsplit("/", 1)[-1] == "false")


def _parts(facts: Facts) -> Iterator[str]:
    """The selectors of the parts that are declared as not free."""
    for node in facts.nodes:
        parts = node.get("hasPart")
        for part in (parts if isinstance(parts, list) else [parts])[:MAX_SELECTORS]:
            if isinstance(part, dict) and _is_false(part.get("isAccessibleForFree")):
                selectors = part.get("cssSelector")
                for selector in (selectors if isinstance(selectors, list) else [selectors])[:MAX_SELECTORS]:
                    if isinstance(selector, str) and _SELECTOR.fullmatch(selector.strip()):
                        yield selector.strip()


def _locked_parts(root: HtmlElement, facts: Facts, letters: int) -> tuple[str | None, bool]:
    """A declared part that is absent or empty, and whether another holds much of a body of so many letters."""
    missing: str | None = None
    for number, selector in enumerate(_parts(facts)):
        if number >= MAX_SELECTORS:
            break
        try:
            found: list[HtmlElement] = CSSSelector(selector, translator="html")(root)
        except (SelectorError, etree.XPathError, ValueError):
            continue
        held = max((visible_chars(element) for element in found[:MAX_SELECTORS]), default=0)
        several = sum(visible_chars(element) for element in found[:MAX_SELECTORS]) if len(found) > 1 else held
        if several >= max(LOCKED_SHARE * letters, SHORT_SIZE):
            return None, True
        if held == 0:
            missing = missing or selector
    return missing, False


def _share_of_declared(facts: Facts, body: list[str], letters: int) -> float | None:
    """The body's share of the text that the page declares, by its `articleBody` or else its `wordCount`."""
    declared = max((size(string(node.get("articleBody"))) for node in facts.nodes), default=0)
    if declared >= DECLARED_SIZE:
        return letters / declared
    counts = [str(node.get("wordCount", "")).strip() for node in facts.nodes]
    words = max((int(count) for count in counts if count.isascii() and count.isdigit() and len(count) < 7), default=0)
    return sum(len(text.split()) for text in body) / words if words * 5 >= DECLARED_SIZE else None


def _barrier(texts: Sequence[str], chosen: list[int]) -> str | None:
    """The words of a barrier at the end of the body or right behind it."""
    last = chosen[-1]
    for number in chosen[-WITHIN:]:
        if _is_short(texts[number], BARRIER_SIZE) and (match := _barriers().search(fold(texts[number]))):
            return f"barrier: {match.group(0)}"
    for number in range(last + 1, min(last + 1 + BEHIND, len(texts))):
        if _is_short(texts[number], BARRIER_SIZE):
            # Its sentence and its buttons are blocks of their own: "To read the full story", "Subscribe", "Sign in".
            buttons = [text for text in texts[number + 1 : number + 3] if _is_short(text, BUTTON_SIZE)]
            if match := _barriers().search(fold(" ".join((texts[number], *buttons)))):
                return f"barrier: {match.group(0)}"
    return None


def without_barrier(texts: Sequence[str], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A teaser's blocks without the barrier that ends them; a body that is nothing else stays."""
    chosen = np.flatnonzero(kept).tolist()
    for number in chosen[-WITHIN:]:
        if number != chosen[0] and _is_short(texts[number], BARRIER_SIZE) and _barriers().search(fold(texts[number])):
            result = kept.copy()
            result[number:] = False
            return result
    return kept


def _is_short(text: str, most: int) -> bool:
    return len(text) <= CHARS_A_LETTER * most and size(text) <= most


def _last(texts: Sequence[str], chosen: list[int]) -> int:
    """The last block of the body that is no barrier."""
    rest = (number for number in reversed(chosen[-WITHIN - 1 :]) if not _barriers().search(fold(texts[number][:2_000])))
    return next(rest, chosen[-1])
