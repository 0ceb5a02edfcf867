"""From chosen blocks to the body: all other text is taken out of the tree, and images stay with the text around."""

from __future__ import annotations

import numpy as np
from lxml.etree import _Element as HtmlElement
from numpy.typing import NDArray

from service.extraction.dom import drop
from service.extraction.segment import Blocks, share

MEDIA = frozenset(("img", "picture", "video", "audio", "iframe", "hr", "math"))
"""Elements without text of their own that belong to the text around them."""

AMONG = 0.5
"""Share of the words around an image that must be body for it to be part of the body."""

AROUND = 0.8
"""The same for an image before the first block of the body or behind the last, where page furniture begins: it must
also stand in the innermost element that holds the whole body."""

_TRANSPARENT = frozenset(("figure", "figcaption", "picture", "a"))
_CELLS = frozenset(("td", "th"))


def leave_only(blocks: Blocks, chosen: NDArray[np.bool_]) -> list[HtmlElement]:
    """The element that holds the body, in a list, all other text removed from it; none where no block is chosen."""
    if not chosen.any():
        return []
    kept = blocks.inside(chosen)
    stays = np.zeros(len(blocks.elements) + 1, np.int64)
    stays[1:] = np.cumsum(_media(blocks, chosen))
    media = stays[blocks.end] - stays[:-1]
    for number in np.flatnonzero(~chosen):
        for element, tail in blocks.pieces[number]:
            if tail:
                element.tail = None
            else:
                element.text = None
    end = 0
    for i, element in enumerate(blocks.elements):
        if i < end or i == 0:
            continue
        empty = not kept[i] and not media[i]
        if empty and element.tag not in _CELLS and (blocks.last[i] > blocks.first[i] or element.tag in MEDIA):
            end = int(blocks.end[i])
            if element.tag in MEDIA:
                drop(element)
            else:
                element.clear(keep_tail=True)  # an empty block still parts the text before it from the text behind
    return [blocks.elements[0]]


def _media(blocks: Blocks, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """1 for each element of `MEDIA` that stays, 0 for all others."""
    stays = np.zeros(len(blocks.elements), np.int64)
    places = [i for i, tag in enumerate(blocks.tags) if tag in MEDIA]
    if not places:
        return stays
    body = share(blocks.inside(np.where(chosen, blocks.words, 0)), blocks.inside(blocks.words))
    first, last = int(np.argmax(chosen)), len(chosen) - int(np.argmax(chosen[::-1]))
    holder = int(np.flatnonzero((blocks.first <= first) & (blocks.last >= last))[-1])  # the innermost that holds it all
    for i in places:
        if blocks.last[i] > blocks.first[i]:  # a formula is text: it goes with its block
            stays[i] = int(chosen[blocks.first[i] : blocks.last[i]].any())
            continue
        around = _around(blocks, i)
        if first < blocks.first[i] < last:
            stays[i] = int(body[around] >= AMONG)
        else:
            stays[i] = int(body[around] >= AROUND and holder <= i < blocks.end[holder])
    return stays


def _around(blocks: Blocks, i: int) -> int:
    """The nearest block-level element around an image that holds text, its own caption aside."""
    node = int(blocks.up[i])
    while blocks.up[node] >= 0 and (blocks.first[node] == blocks.last[node] or blocks.tags[node] in _TRANSPARENT):
        node = int(blocks.up[node])
    return max(node, 0)
