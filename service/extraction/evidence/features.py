"""Features by name, and what all parts of the evidence measure with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.extraction.segment import STOP, Blocks, Floats, Ints

Said = list[tuple[str, ...]]
"""The words of each block, none where it is longer than `LONGEST`."""

_WORD = re.compile(r"\w+")

FAR = 99
"""Distance of what is not there."""

LONGEST = 600
"""Characters of the longest block whose words are looked at one by one."""


def said(text: str) -> tuple[str, ...]:
    """The lower-case words of a text; a run of a script without spaces is one."""
    return tuple(_WORD.findall(text.lower()))


def said_by(blocks: Blocks) -> Said:
    """The words of every block."""
    return [said(text) if len(text) <= LONGEST else () for text in blocks.texts]


@dataclass(slots=True, eq=False)
class Names:
    """What elements are called, by class, id, role and itemprop: the different names, and the number of each element's.

    Number 0 is no name: an element without one, or without text.
    """

    different: list[str]
    of: Ints


@dataclass(slots=True, eq=False)
class Marks:
    """Words that ranges of blocks have: the different words; the number of the word, first and last of each range."""

    different: list[str]
    word: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, different: list[str], ranges: list[tuple[int, int, int]]) -> Marks:
        """From (number of the word, first, last)."""
        word, first, last = np.asarray(ranges, np.int64).reshape(-1, 3).T
        return cls(different, word, first, last)


class Evidence:
    """Columns by name; a column is a value for every block, or one for all of them."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.columns: dict[str, NDArray[Any] | float] = {}

    @property
    def names(self) -> list[str]:
        """The features, in the order they were added."""
        return list(self.columns)

    def add(self, name: str, values: NDArray[Any] | float) -> None:
        """Add a column, or one value for all blocks."""
        self.columns[name] = values

    def rows(self, marks: Marks, names: tuple[str, ...]) -> NDArray[np.float32]:
        """Blocks × `names`; `marks` is `marks_of` the page."""
        position = _positions(names)
        found = np.zeros((len(names), self.number + 1), np.float32)
        row_of = np.asarray([position.get(word, -1) for word in marks.different], np.intp)
        row = row_of[marks.word]
        wanted = row >= 0
        np.add.at(found, (row[wanted], marks.first[wanted]), 1)
        np.add.at(found, (row[wanted], marks.last[wanted]), -1)
        marked = row_of[row_of >= 0]
        found[marked] = np.cumsum(found[marked], axis=1) > 0
        for name, column in self.columns.items():
            if name in position:
                found[position[name], :-1] = column
        return found[:, :-1].T


@lru_cache(maxsize=8)
def _positions(names: tuple[str, ...]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


@dataclass(slots=True, eq=False)
class Scene:
    """A page's blocks and the density winner, with the sums that most features need.

    `held` is how many blocks each element covers; `e_chars`, `e_links`, `e_p` and `e_stops` are what it holds of
    characters, link text, text in `<p>`, and full stops. `level` counts the block-level elements around an element,
    `before` the characters before a block; `total` is never 0.
    """

    blocks: Blocks
    winner: int
    chars: Floats
    total: float
    held: Ints
    e_chars: Floats
    e_links: Floats
    e_p: Floats
    e_stops: Floats
    level: Ints
    before: Floats
    index: Ints

    @classmethod
    def of(cls, blocks: Blocks, winner: int) -> Scene:
        """Take the sums."""
        chars = blocks.chars.astype(np.float64)
        return cls(
            blocks=blocks,
            winner=winner,
            chars=chars,
            total=max(1.0, float(chars.sum())),
            held=blocks.last - blocks.first,
            e_chars=blocks.inside(chars),
            e_links=blocks.inside(blocks.link_chars),
            e_p=blocks.inside(blocks.p_chars),
            e_stops=blocks.inside(blocks.counts[:, STOP]),
            level=_levels(blocks),
            before=np.concatenate(([0.0], np.cumsum(chars)[:-1]))[: len(chars)],
            index=np.arange(len(blocks)),
        )

    def innermost(self, elements: Ints) -> Ints:
        """The innermost of some elements (numbers in preorder) around each block, -1 where none is."""
        first, last = self.blocks.first[elements], self.blocks.last[elements]
        # Of wrappers that cover the same blocks the last is the innermost.
        other = np.ones(len(elements), bool)
        other[:-1] = (first[1:] != first[:-1]) | (last[1:] != last[:-1])
        result = np.full(len(self.blocks), -1, np.int64)
        for number, begin, end in zip(
            elements[other].tolist(), first[other].tolist(), last[other].tolist(), strict=True
        ):
            result[begin:end] = number
        return result


def _levels(blocks: Blocks) -> Ints:
    levels = [0] * len(blocks.elements)
    for i, above in enumerate(blocks.up.tolist()):
        if above >= 0:
            levels[i] = levels[above] + 1
    return np.asarray(levels, np.int64)
