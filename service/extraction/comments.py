"""Reader comments: body on a forum, noise under an article or a post."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from service.extraction.dom import NAME_CHARS, words
from service.extraction.segment import Blocks

NAMES = frozenset(
    ("comment comments responses commentlist commentary reply replies respond disqus discussion livefyre").split()
)
"""Words in the class or id of comment sections."""

REST_CHARS = 250
"""Visible characters that must remain; without them the "comments" are the body (a name alone deletes nothing)."""

_SECTIONS = frozenset(("div", "section", "ul", "ol", "aside", "article", "table"))
_REMARKS = frozenset(("form", "time", "textarea"))
_ITEMS = frozenset(("li", "div", "article"))


def in_comments(blocks: Blocks) -> NDArray[np.bool_]:
    """Which blocks are in comment sections; none where hardly any text would be left."""
    found = np.zeros(len(blocks), bool)
    chars = blocks.inside(blocks.chars)
    end = 0
    for i, attributes in enumerate(blocks.attributes):
        if i < end or not attributes or blocks.tags[i] not in _SECTIONS:
            continue
        if not _is_named(attributes.get("class", "")[:NAME_CHARS], attributes.get("id", "")[:NAME_CHARS]):
            continue
        end = int(blocks.end[i])
        if _holds_remarks(blocks, i, float(chars[i])):
            found[blocks.first[i] : blocks.last[i]] = True
    return found if blocks.chars[~found].sum() >= REST_CHARS else np.zeros(len(blocks), bool)


@lru_cache(maxsize=4096)
def _is_named(name: str, identity: str) -> bool:
    return not NAMES.isdisjoint(words(f"{name} {identity}"))


def _holds_remarks(blocks: Blocks, i: int, chars: float) -> bool:
    """Evidence beside the name: items of equal build, dates, a form to write in, or only a little text."""
    if chars < REST_CHARS:
        return True
    builds: dict[tuple[str, str | None], int] = {}
    for j in range(i + 1, int(blocks.end[i])):
        tag = blocks.tags[j]
        if tag in _REMARKS:
            return True
        if tag in _ITEMS:
            build = tag, blocks.attributes[j].get("class")
            builds[build] = builds.get(build, 0) + 1
    return max(builds.values(), default=0) >= 2
