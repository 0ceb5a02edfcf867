"""How much on the page is built like a block, or like an element around it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from service.extraction.evidence.features import Evidence, Scene
from service.extraction.segment import STOP, Blocks, Ints, share

ALIKE = 3
"""Elements of one build, side by side, from which each is a card of a list."""

_NO_CARDS = frozenset(("p", "span", "br"))


def repetition(found: Evidence, scene: Scene) -> None:
    """The card and the list a block is in, and the blocks of its own build."""
    blocks, index, chars = scene.blocks, scene.index, scene.chars
    inner, outer, repeats = _cards(scene)
    for name, card in (("card", inner), ("list", outer)):
        none = card < 0
        card = np.maximum(card, 0)
        around = np.maximum(blocks.up[card], 0)
        for feature, values in (
            ("repeats", repeats[card]),
            ("chars", scene.e_chars[card]),
            ("link_share", share(scene.e_links[card], scene.e_chars[card])),
            ("blocks", scene.held[card]),
            ("start", index - blocks.first[card]),
            ("all_chars", scene.e_chars[around]),
            ("all_share", scene.e_chars[around] / scene.total),
            ("all_link_share", share(scene.e_links[around], scene.e_chars[around])),
            ("all_stops", share(scene.e_stops[around], scene.held[around])),
        ):
            found.add(f"{name}_{feature}", np.where(none, 0, values))
    build = signatures(blocks)
    size = np.bincount(build)
    of_build = np.bincount(build, chars)
    found.add("alike", size[build])
    found.add("alike_chars", (of_build / size)[build])
    found.add("alike_share", (of_build / scene.total)[build])
    found.add("alike_link_share", (np.bincount(build, blocks.link_chars) / np.maximum(1, of_build))[build])
    found.add("alike_stops", (np.bincount(build, blocks.counts[:, STOP]) / size)[build])
    first = np.full(len(size), len(blocks))
    np.minimum.at(first, build, index)
    last = np.zeros(len(size), np.int64)
    np.maximum.at(last, build, index)
    found.add("alike_since", index - first[build])
    found.add("alike_until", last[build] - index)
    for step in (1, 2, 3):
        for side, by in (("before", step), ("after", -step)):
            found.add(f"{side}{step}_alike", shifted(build, by) == build)


def shifted(values: np.ndarray, by: int) -> np.ndarray:
    """The values of the blocks `by` places before each (after it, if negative); -1 where there are none."""
    result = np.full(len(values), -1, values.dtype)
    if by > 0:
        result[by:] = values[:-by]
    else:
        result[:by] = values[-by:]
    return result


def signatures(blocks: Blocks) -> Ints:
    """A number for each build of a block: tag and class of the element it is in, and of two around it.

    A class that only one element has is no part of a build: generated names differ from block to block.
    """
    classes = [attributes.get("class") for attributes in blocks.attributes]
    uses = Counter(classes)
    numbers: dict[object, int] = {}
    of_home: dict[int, int] = {}
    up = blocks.up.tolist()
    result = []
    for i in blocks.home.tolist():
        if i not in of_home:
            key: list[object] = []
            node = i
            while node >= 0 and len(key) < 3:
                key.append((blocks.tags[node], classes[node] if uses[classes[node]] > 1 else None))
                node = up[node]
            of_home[i] = numbers.setdefault(tuple(key), len(numbers))
        result.append(of_home[i])
    return np.asarray(result, np.int64)


def _first_word(name: str | None) -> str | None:
    words = name.split(None, 1) if name else None
    return words[0] if words else None


def _cards(scene: Scene) -> tuple[Ints, Ints, Ints]:
    """(nearest, outermost) card around each block, -1 for none, and how often each element's build is repeated."""
    blocks = scene.blocks
    builds: dict[tuple[int, str, str | None], int] = {}
    keys: list[tuple[int, str, str | None] | None] = []
    first, last = blocks.first.tolist(), blocks.last.tolist()
    for above, begin, end, tag, attributes in zip(
        blocks.parent.tolist(), first, last, blocks.tags, blocks.attributes, strict=True
    ):
        if begin == end or tag in _NO_CARDS:
            keys.append(None)
            continue
        key = (above, tag, _first_word(attributes.get("class")))
        builds[key] = builds.get(key, 0) + 1
        keys.append(key)
    repeats = np.asarray([builds[key] if key else 0 for key in keys], np.int64)
    repeated = np.flatnonzero(repeats >= ALIKE)
    outer = np.full(len(blocks), -1, np.int64)
    end = 0
    for i in repeated.tolist():
        if i >= end:
            end = int(blocks.end[i])
            outer[first[i] : last[i]] = i
    return scene.innermost(repeated), outer, repeats
