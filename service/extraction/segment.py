"""A page as blocks: the runs of text between block-level tags, and the elements around them, in one walk.

Every element covers a range of blocks, so that what an element holds is a difference of running sums:
the whole measuring is linear, and numpy does it for all elements at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any
from unicodedata import category

import numpy as np
from lxml import etree
from lxml.etree import _Element as HtmlElement
from numpy.typing import NDArray

from service.extraction.dom import BLOCK

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SPACE, LOWER, UPPER, OTHER_LETTER, IDEOGRAPH, DIGIT, STOP, PAUSE, SYMBOL, MARK = range(10)
"""Classes of characters. `IDEOGRAPH` is any letter of a script written without spaces, one word each."""

CLASSES = 10

_STOPS = ".!?…。！？．｡؟۔।॥։។၊။"
_PAUSES = ",;:、，；：､،؛‚·"
_UNSPACED = ((0x0E00, 0x0E7F), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


Piece = tuple[HtmlElement, bool]
"""One text of the tree: an element's own text (False), or the text behind it, its tail (True)."""


@dataclass(slots=True, eq=False)
class Blocks:
    """The blocks of a page, in document order, and its elements in preorder.

    `counts` is blocks × character classes; `first` and `last` give the range of blocks that each
    element covers; `up` is the nearest block-level element around each element, -1 at the root.
    """

    texts: list[str]
    pieces: list[list[Piece]]
    elements: list[HtmlElement]
    tags: list[str]
    attributes: list[dict[str, str]]
    parent: Ints
    end: Ints
    up: Ints
    first: Ints
    last: Ints
    home: Ints
    counts: Ints
    words: Ints
    link_chars: Ints
    links: Ints
    p_chars: Ints
    bold_chars: Ints

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def chars(self) -> Ints:
        """Visible characters of each block: those that are no white space."""
        total: Ints = self.counts.sum(axis=1) - self.counts[:, SPACE]
        return total

    def inside(self, values: NDArray[Any]) -> Floats:
        """For every element, the total of a blocks' column over the blocks it covers."""
        running = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
        result: Floats = running[self.last] - running[self.first]
        return result


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """part ÷ whole, 0 where the whole is 0."""
    result: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0)
    return result


_NONE: dict[str, str] = {}
_LINK, _P, _BOLD = 1, 2, 4
_FLAGS = {"p": _P, "b": _BOLD, "strong": _BOLD}


def cut(root: HtmlElement) -> Blocks:
    """Cut the `<body>` of a page (or what stands for it) into blocks; two line breaks in a row cut, too."""
    body = root.find("body")
    top = root if body is None else body
    elements: list[HtmlElement] = []
    attributes: list[dict[str, str]] = []
    tags: list[str] = []
    parent: list[int] = []
    ends: list[int] = []
    up: list[int] = []
    first: list[int] = []
    last: list[int] = []
    home: list[int] = []
    pieces: list[list[Piece]] = []
    texts: list[str] = []  # of pieces, flat
    owner: list[int] = []  # the block of each
    flags: list[int] = []
    links: list[int] = []
    outer: list[int] = []  # the flags around each element
    around, inside, current = -1, -1, 0
    is_open, breaks, due = False, 0, 0

    for event, element in etree.iterwalk(top, events=("start", "end")):
        tag = element.tag if event == "start" else tags[around]
        is_block = tag in BLOCK or around < 0
        if is_block:
            is_open = False
        elif tag == "br":
            breaks += event == "start"
            if breaks > 1:
                is_open = False
        if event == "start":
            outer.append(current)
            elements.append(element)
            attributes.append(dict(items) if (items := element.items()) else _NONE)
            tags.append(tag)
            parent.append(around)
            up.append(inside)
            around = len(elements) - 1
            if is_block:
                inside = around
            if tag == "a" and "href" in attributes[-1]:
                current |= _LINK
                due += 1
            elif tag in _FLAGS:
                current |= _FLAGS[tag]
            first.append(len(pieces))
            last.append(0)
            ends.append(0)
            text = element.text
            tail = False
        else:
            last[around] = len(pieces)
            ends[around] = len(elements)
            current, inside, around = outer[around], up[around], parent[around]
            text = element.tail if around >= 0 else None
            tail = True
        if not text:
            continue
        if text.isspace():
            if is_open:
                texts.append(" ")
                owner.append(len(pieces) - 1)
                flags.append(0)
                pieces[-1].append((element, tail))
            continue
        if not is_open:
            pieces.append([])
            home.append(inside)
            links.append(0)
            is_open = True
        breaks = 0
        links[-1] += due
        due = 0
        texts.append(text)
        owner.append(len(pieces) - 1)
        flags.append(current)
        pieces[-1].append((element, tail))
    return _measured(
        elements, attributes, tags, parent, ends, up, first, last, home, pieces, texts, owner, flags, links
    )


def _measured(
    elements: list[HtmlElement],
    attributes: list[dict[str, str]],
    tags: list[str],
    parent: list[int],
    ends: list[int],
    up: list[int],
    first: list[int],
    last: list[int],
    home: list[int],
    pieces: list[list[Piece]],
    texts: list[str],
    owner: list[int],
    flags: list[int],
    links: list[int],
) -> Blocks:
    number = len(pieces)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    classes = classes_of("".join(texts))
    owners = np.asarray(owner, np.int64)
    block_of = np.repeat(owners, lengths)
    flag_of = np.repeat(np.asarray(flags, np.int64), lengths)
    visible = classes != SPACE
    counts = np.bincount(block_of * CLASSES + classes, minlength=number * CLASSES).reshape(number, CLASSES)
    letter = (classes >= LOWER) & (classes <= DIGIT) & (classes != IDEOGRAPH)
    starts = letter.copy()
    starts[1:] &= ~letter[:-1] | (block_of[1:] != block_of[:-1])

    def total(mask: NDArray[np.bool_]) -> Ints:
        return np.bincount(block_of[mask], minlength=number)

    joined: list[str] = []
    position = 0
    for run in pieces:
        joined.append("".join(texts[position : position + len(run)]))
        position += len(run)
    return Blocks(
        texts=joined,
        pieces=pieces,
        elements=elements,
        attributes=attributes,
        tags=tags,
        parent=np.asarray(parent, np.int64),
        end=np.asarray(ends, np.int64),
        up=np.asarray(up, np.int64),
        first=np.asarray(first, np.int64),
        last=np.asarray(last, np.int64),
        home=np.asarray(home, np.int64),
        counts=counts,
        words=total(starts) + counts[:, IDEOGRAPH],
        link_chars=total(visible & (flag_of & _LINK > 0)),
        links=np.asarray(links, np.int64),
        p_chars=total(visible & (flag_of & _P > 0)),
        bold_chars=total(visible & (flag_of & _BOLD > 0)),
    )


def classes_of(text: str) -> NDArray[np.uint8]:
    """The class of each character of a text."""
    found: NDArray[np.uint8] = _table()[
        np.minimum(np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32), _LAST)
    ]
    return found


_LAST = 0xFFFF


@cache
def _table() -> NDArray[np.uint8]:
    """The class of every character of the Basic Multilingual Plane; those beyond count as ideographs."""
    table = np.full(_LAST + 1, SYMBOL, np.uint8)
    for code in range(_LAST):
        kind = category(chr(code))
        if kind[0] == "L" or kind[0] == "M":
            table[code] = {"Ll": LOWER, "Lu": UPPER}.get(kind, OTHER_LETTER)
        elif kind[0] == "N":
            table[code] = DIGIT
        elif kind[0] in "ZC":
            table[code] = SPACE
        elif kind[0] == "P":
            table[code] = MARK
    for low, high in _UNSPACED:
        table[low : min(high, _LAST) + 1] = np.where(
            np.isin(table[low : min(high, _LAST) + 1], (OTHER_LETTER,)), IDEOGRAPH, table[low : min(high, _LAST) + 1]
        )
    table[_LAST] = IDEOGRAPH
    for text, number in ((_STOPS, STOP), (_PAUSES, PAUSE)):
        table[[ord(char) for char in text]] = number
    return table
