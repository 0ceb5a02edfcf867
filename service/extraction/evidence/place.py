"""Where a block stands: on the page, and inside or beside the density winner."""

from __future__ import annotations

import numpy as np

from service.extraction.evidence.features import FAR, Evidence, Scene
from service.extraction.segment import share


def place(found: Evidence, scene: Scene) -> None:
    """Place on the page, and distance from the winner in blocks, characters and levels of elements."""
    blocks, winner, index, before = scene.blocks, scene.winner, scene.index, scene.before
    number, home = len(blocks), blocks.home
    found.add("place_blocks", index / max(1, number))
    found.add("place_blocks_abs", index)
    found.add("place_blocks_abs_end", number - index)
    found.add("place_chars", before / scene.total)
    found.add("depth", scene.level[home])

    first, last = int(blocks.first[winner]), int(blocks.last[winner])
    held = scene.e_chars[winner]
    found.add("in_winner", (index >= first) & (index < last))
    found.add("winner_share", held / scene.total)
    found.add("winner_link_share", scene.e_links[winner] / max(1.0, held))
    found.add("winner_p_share", scene.e_p[winner] / max(1.0, held))
    found.add("winner_chars", held)
    found.add("winner_start_blocks", index - first)
    found.add("winner_end_blocks", last - index)
    start = before[first]
    end = before[last - 1] + scene.chars[last - 1]
    found.add("winner_start_chars", before - start)
    found.add("winner_end_chars", end - before)
    found.add("winner_levels", scene.level[home] - scene.level[winner])
    found.add("winner_place", share(before - start, np.full(number, max(1.0, end - start))))
    climb = np.full(number, FAR)  # levels from the winner up to an element that holds both
    node, steps = winner, 0
    while node >= 0:
        part = climb[blocks.first[node] : blocks.last[node]]
        part[part == FAR] = steps
        node, steps = int(blocks.up[node]), steps + 1
    found.add("winner_climb", climb)
