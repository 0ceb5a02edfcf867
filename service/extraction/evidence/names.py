"""What class names, ids and roles hint at, and the words of a page: a hint moves a score, it never deletes alone."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache

import numpy as np

from service.extraction.dom import NAME_CHARS, words
from service.extraction.evidence.features import FAR, Evidence, Marks, Names, Said, Scene
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

_GROUPS_OF: dict[str, list[str]] = {}
for _group, _words in GROUPS.items():
    for _word in _words.split():
        _GROUPS_OF.setdefault(_word, []).append(_group)
_NAMING = ("class", "id", "role", "itemprop")


def names_of(blocks: Blocks) -> Names:
    """What every element with text is called."""
    numbers = {"": 0}
    of = [
        numbers.setdefault(
            " ".join([attributes[key] for key in _NAMING if key in attributes])[:NAME_CHARS], len(numbers)
        )
        if attributes and with_text
        else 0
        for attributes, with_text in zip(blocks.attributes, (blocks.first < blocks.last).tolist(), strict=True)
    ]
    return Names(list(numbers), np.asarray(of, np.int64))


def hints(found: Evidence, scene: Scene, names: Names) -> None:
    """Levels up to the nearest element whose name hints at something, by group of hints, and its share of the page."""
    blocks = scene.blocks
    hinted = [read(name)[1] for name in names.different]
    for group in GROUPS:
        numbers = np.flatnonzero(np.asarray([group in groups for groups in hinted])[names.of])
        nearest = scene.innermost(numbers)
        known = nearest >= 0
        nearest = np.maximum(nearest, 0)
        found.add(f"{group}_levels", np.where(known, scene.level[blocks.home] - scene.level[nearest], FAR))
        found.add(f"{group}_share", np.where(known, scene.e_chars[nearest] / scene.total, 0))
    styled = [i for i, attributes in enumerate(blocks.attributes) if "hidden" in attributes or "style" in attributes]
    panels = [i for i in styled if hides(blocks.tags[i], blocks.attributes[i])]  # what a reader has to open
    found.add("in_panel", scene.innermost(np.asarray(panels, np.int64)) >= 0)


def marks_of(blocks: Blocks, names: Names, spoken: Said, wanted: Container[str]) -> Marks:
    """The `wanted` words on a page as ranges of blocks: of names, of short texts, of headings."""
    numbers: dict[str, int] = {}
    marks: list[tuple[int, int, int]] = []

    def mark(words: Iterable[str], first: int, last: int) -> None:
        marks.extend([(numbers.setdefault(word, len(numbers)), first, last) for word in words if word in wanted])

    heading, title = -1, frozenset[str]()
    for i, text in enumerate(blocks.texts):
        if len(text) > LABEL_CHARS:
            continue
        words = frozenset(spoken[i])
        mark([SAID + word for word in words], i, i + 1)
        if blocks.tags[blocks.home[i]] in HEADINGS:
            mark([UNDER + word for word in title], heading + 1, i)
            heading, title = i, words
    mark([UNDER + word for word in title], heading + 1, len(blocks))

    of_name = [
        [numbers.setdefault(word, len(numbers)) for word in read(name)[0] if word in wanted] for name in names.different
    ]
    # An element has every word of its name: element by element, word by word, without a loop over the elements.
    size = np.asarray([len(words) for words in of_name], np.int64)
    sizes = size[names.of]
    element = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(element)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    begin = (np.cumsum(size) - size)[names.of]
    word = np.asarray([word for words in of_name for word in words], np.int64)[begin[element] + place]
    spoken_marks = Marks.of(list(numbers), marks)
    return Marks(
        spoken_marks.different,
        np.concatenate((spoken_marks.word, word)),
        np.concatenate((spoken_marks.first, blocks.first[element])),
        np.concatenate((spoken_marks.last, blocks.last[element])),
    )


@lru_cache(maxsize=4096)
def read(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a name as features, and the groups of hints that they belong to."""
    found = sorted(set(words(name)))
    groups = {group for word in found if word in _GROUPS_OF for group in _GROUPS_OF[word]}
    return tuple([NAMED + word for word in found]), tuple(sorted(groups))
