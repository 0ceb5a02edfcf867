"""What class names, ids and roles hint at, and the words of a page: a hint moves a score, it never deletes alone."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

import numpy as np

from service.extraction.dom import words
from service.extraction.evidence.features import FAR, Evidence, Mark, Names, Scene, said
from service.extraction.evidence.text import HEADINGS
from service.extraction.noise import hides
from service.extraction.segment import Blocks

NAMED, SAID, UNDER = "name:", "says:", "under:"
"""Before a word in a feature's name: whether an element around the block has it in its class, id, role or itemprop;
whether the block says it; whether the last heading before the block says it."""

LABEL_CHARS = 60
"""Characters of the longest text whose words are looked at: what a label or a heading says."""

GROUPS = {
    "comments": "comment comments responses commentlist reply replies respond disqus discussion livefyre commenter",
    "related": "related recommend recommended recommendation recommendations popular trending latest more readmore "
    "similar also next prev previous outbrain taboola teaser teasers carousel slider upsell crosssell",
    "promotion": "promo promoted promotion sponsor sponsored advert advertisement ads ad banner newsletter subscribe "
    "subscription signup cta cookie cookies consent gdpr popup modal overlay login notice alert",
    "sharing": "share sharing social sns follow print utility tools toolbar",
    "chrome": "sidebar widget breadcrumb breadcrumbs crumb crumbs pagination pager paging toc menu nav navbar "
    "navigation footer masthead header topbar sitemap skip copyright",
    "byline": "byline author bio authorbox meta metadata postmeta date published time timestamp dateline info "
    "profile postprofile userinfo signature avatar user username caption credit figcaption tags taglist category",
    "content": "article content body entry post story main text copy prose richtext markdown rte wysiwyg "
    "description message answer question detail details",
}
"""Words of class and id names, by what they hint at."""

_GROUPS = [(name, frozenset(group.split())) for name, group in GROUPS.items()]
_NAMING = ("class", "id", "role", "itemprop")


def names_of(blocks: Blocks) -> Names:
    """What every element with text is called: its class, id, role and itemprop."""
    return [
        " ".join([attributes[key] for key in _NAMING if key in attributes]) if attributes and with_text else ""
        for attributes, with_text in zip(blocks.attributes, (blocks.first < blocks.last).tolist(), strict=True)
    ]


def hints(found: Evidence, scene: Scene, names: Names) -> None:
    """Levels up to the nearest element whose name hints at something, by group of hints, and its share of the page."""
    blocks = scene.blocks
    elements: dict[str, list[int]] = {name: [] for name in GROUPS}
    for i, name in enumerate(names):
        if name and (hinted := read(name)[1]):
            for group in hinted:
                elements[group].append(i)
    first, last = blocks.first.tolist(), blocks.last.tolist()
    for group, numbers in elements.items():
        nearest = np.full(len(blocks), -1, np.int64)
        for i in numbers:
            nearest[first[i] : last[i]] = i
        known = nearest >= 0
        nearest = np.maximum(nearest, 0)
        found.add(f"{group}_levels", np.where(known, scene.level[blocks.home] - scene.level[nearest], FAR))
        found.add(f"{group}_share", np.where(known, scene.e_chars[nearest] / scene.total, 0))
    in_panel = np.zeros(len(blocks), bool)  # what a reader has to open
    for i in [i for i, attributes in enumerate(blocks.attributes) if "hidden" in attributes or "style" in attributes]:
        if hides(blocks.tags[i], blocks.attributes[i]):
            in_panel[first[i] : last[i]] = True
    found.add("in_panel", in_panel)


def marks_of(blocks: Blocks, names: Names, wanted: Container[str]) -> list[Mark]:
    """The `wanted` words on a page as ranges of blocks: of names, of short texts, of headings."""
    marks: list[Mark] = []
    for name, first, last in zip(names, blocks.first.tolist(), blocks.last.tolist(), strict=True):
        if name:
            marks.extend([(word, first, last) for word in read(name)[0] if word in wanted])
    heading, title = -1, frozenset[str]()
    for i, text in enumerate(blocks.texts):
        if len(text) > LABEL_CHARS:
            continue
        found = frozenset(said(text))
        marks.extend([(name, i, i + 1) for word in found if (name := SAID + word) in wanted])
        if blocks.tags[blocks.home[i]] in HEADINGS:
            marks.extend([(name, heading + 1, i) for word in title if (name := UNDER + word) in wanted])
            heading, title = i, found
    marks.extend([(name, heading + 1, len(blocks)) for word in title if (name := UNDER + word) in wanted])
    return marks


@lru_cache(maxsize=4096)
def read(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a name as features, and the groups of hints that they belong to."""
    found = frozenset(words(name))
    groups = tuple(group for group, hints in _GROUPS if not hints.isdisjoint(found))
    return tuple(sorted(NAMED + word for word in found)), groups
