"""What a page is like as a whole: named measures from its address, its declarations, its names and its blocks."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

import numpy as np

from service.extraction.dom import words
from service.extraction.evidence import SAID, Evidence, Names, Said
from service.extraction.evidence.names import LABEL_CHARS, read
from service.extraction.facts import Facts, types
from service.extraction.segment import Blocks

_TAGS = frozenset(
    (
        "h1 h2 h3 h4 li a img pre code table tr td form time article section blockquote dl dt p label figure "
        "iframe video ul main aside nav"
    ).split()
)
_AVERAGED = (
    "dated priced contact copies link_share stops heading is_li is_p is_td is_pre digit_share alike list_repeats "
    "card_chars list_chars pauses upper_share words in_comments"
).split()
_COVERED = ("comments", "related", "promotion", "sharing", "chrome", "byline", "content")
_DECLARED = ("article:published_time", "og:image", "twitter:card", "author", "product:price:amount", "og:price:amount")
_YEAR = re.compile(r"/(?:19|20)\d\d/")
_QUANTILES = (0.25, 0.5, 0.75, 0.9)


def traits_of(
    blocks: Blocks, gathered: Evidence, names: Names, spoken: Said, facts: Facts, url: str | None, declared: str | None
) -> dict[str, float]:
    """The measures that are not 0, by name; `gathered`, `names` and `spoken` are the blocks'."""
    found: dict[str, float] = {f"declared:{declared}": 1}
    meta = facts.meta
    found[f"og:{meta.get('og:type', '').lower()[:20]}"] = 1
    found.update((f"generator:{word}", 1) for word in words(meta.get("generator", ""))[:8])
    found.update((f"type:{name}", 1) for node in facts.nodes for name in types(node))
    found.update((f"declares:{name}", 1) for name in _DECLARED if name in meta)
    found["title_chars"] = len(facts.title)
    found["description_chars"] = len(meta.get("description", ""))
    _address(found, url)
    tags = Counter(blocks.tags)
    found.update((f"tags:{tag}", tags[tag]) for tag in _TAGS)
    if len(blocks):
        _text(found, blocks, gathered)
        _names(found, blocks, names)
        for text, words_said in zip(blocks.texts, spoken, strict=True):
            if len(text) <= LABEL_CHARS:
                found.update(dict.fromkeys([SAID + word for word in words_said], 1))
    return found


def _address(found: dict[str, float], url: str | None) -> None:
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return
    segments = [segment for segment in parts.path.split("/") if segment]
    found.update((f"address:{word}", 1) for s in segments if len(s) < 30 for word in words(s))
    last = segments[-1] if segments else ""
    found["address_segments"] = len(segments)
    found["address_last_chars"] = len(last)
    found["address_last_hyphens"] = last.count("-")
    found["address_last_digits"] = sum(char.isdigit() for char in last)
    found["address_query_chars"] = len(parts.query)
    found["address_year"] = bool(_YEAR.search(parts.path))


def _text(found: dict[str, float], blocks: Blocks, gathered: Evidence) -> None:
    columns = gathered.columns
    chars = blocks.chars
    inside = np.asarray(columns["in_winner"])
    for name, column in columns.items():
        if type(column) is not np.ndarray:
            found[name] = float(column)
    averaged = np.stack([np.broadcast_to(columns[name], len(blocks)) for name in _AVERAGED]).astype(np.float64)
    found.update(zip([f"mean:{name}" for name in _AVERAGED], averaged.mean(axis=1).tolist(), strict=True))
    if inside.any():
        averaged = averaged[:, inside]
        found.update(zip([f"winner_mean:{name}" for name in _AVERAGED], averaged.mean(axis=1).tolist(), strict=True))
        found.update(zip([f"winner_sum:{name}" for name in _AVERAGED], averaged.sum(axis=1).tolist(), strict=True))
    for group in _COVERED:
        under = np.asarray(columns[f"{group}_levels"]) < 99
        found[f"share:{group}"] = chars[under].sum() / max(1, chars.sum())
        found[f"winner_share:{group}"] = chars[under & inside].sum() / max(1, chars[inside].sum())
    for name, values in (("chars", chars), ("winner_chars", chars[inside])):
        ordered = np.sort(values)
        for q in _QUANTILES if len(ordered) else ():
            found[f"{name}:{q}"] = float(ordered[int(q * (len(ordered) - 1))])


def _names(found: dict[str, float], blocks: Blocks, names: Names) -> None:
    """How much of the text stands under a word of a name, and how many elements bear it."""
    running = np.concatenate(([0], np.cumsum(blocks.chars)))
    shares = (running[blocks.last] - running[blocks.first]) / max(1, int(running[-1]))
    largest = np.zeros(len(names.different))
    np.maximum.at(largest, names.of, shares)
    numbers = np.bincount(names.of, minlength=len(names.different))
    for name, share, number in zip(names.different[1:], largest[1:].tolist(), numbers[1:].tolist(), strict=True):
        for word in read(name)[0]:
            found[word] = max(found.get(word, 0.0), share)
            found[f"number:{word}"] = found.get(f"number:{word}", 0) + number
