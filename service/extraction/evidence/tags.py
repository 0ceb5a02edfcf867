"""Which elements are around a block, and how many of some are in its containers."""

from __future__ import annotations

import numpy as np

from service.extraction.evidence.features import Evidence, Scene

_AROUND = (
    "nav header footer aside form table ul main article section blockquote figure pre dl a figcaption h1 h2 h3 "
    "h4 p li details noscript address label".split()
)
_COUNTED = ("img", "time", "a", "li", "h2", "h3", "p", "svg")


def tags(found: Evidence, scene: Scene) -> None:
    """Numbers of enclosing elements by tag; numbers of elements by tag in the nearest containers and the winner."""
    blocks = scene.blocks
    known = {tag: number for number, tag in enumerate(dict.fromkeys((*_AROUND, *_COUNTED)), 1)}
    codes = np.asarray([known.get(tag, 0) for tag in blocks.tags], np.int64)
    with_text = blocks.first < blocks.last
    for tag in _AROUND:
        these = np.flatnonzero((codes == known[tag]) & with_text)
        edges = np.bincount(blocks.first[these], minlength=len(blocks) + 1)
        edges -= np.bincount(blocks.last[these], minlength=len(blocks) + 1)
        found.add(f"in_{tag}", np.cumsum(edges)[:-1])
    up = [np.where((home := blocks.home) >= 0, blocks.up[home], -1)]
    for _ in range(2):
        up.append(np.where(up[-1] >= 0, blocks.up[up[-1]], -1))
    for tag in _COUNTED:
        running = np.concatenate(([0], np.cumsum(codes == known[tag])))
        inside = running[blocks.end] - running[:-1]
        for step, node in enumerate(up, 1):
            found.add(f"up{step}_{tag}", inside[np.maximum(node, 0)])
        found.add(f"page_{tag}", running[-1])
        found.add(f"winner_{tag}", inside[scene.winner])
