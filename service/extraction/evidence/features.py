"""Features by name, and what all parts of the evidence measure with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.extraction.segment import STOP, Blocks, Floats, Ints

Mark = tuple[str, int, int]
"""A feature's name, and the range of blocks that have it."""

Names = list[str]
"""What every element is called: its class, id, role and itemprop."""

_WORD = re.compile(r"\w+")

FAR = 99
"""Distance of what is not there."""


def said(text: str) -> list[str]:
    """The lower-case words of a text; a run of a script without spaces is one."""
    return _WORD.findall(text.lower())


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

    def rows(self, marks: list[Mark], names: tuple[str, ...]) -> NDArray[np.float32]:
        """Blocks × `names`; `marks` is `marks_of` the page."""
        position = _positions(names)
        found = np.zeros((len(names), self.number + 1), np.float32)
        for name, first, last in marks:
            if (row := position.get(name)) is not None:
                found[row, first] += 1
                found[row, last] -= 1
        marked = [row for name, row in position.items() if name not in self.columns]
        found[marked] = np.cumsum(found[marked], axis=1) > 0
        for name, column in self.columns.items():
            if (row := position.get(name)) is not None:
                found[row, :-1] = column
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


def _levels(blocks: Blocks) -> Ints:
    levels = [0] * len(blocks.elements)
    for i, above in enumerate(blocks.up.tolist()):
        if above >= 0:
            levels[i] = levels[above] + 1
    return np.asarray(levels, np.int64)
